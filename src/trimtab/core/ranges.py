"""Checks of settings: each says which setting, what was expected and what came."""

from collections.abc import Callable
from operator import index
from typing import Any

SEVERITIES = (1, 2, 3, 4, 5)
"""How strong a corruption can be."""


def check_severity(severity: object) -> None:
    """Refuse what is no severity of a corruption."""
    if severity not in SEVERITIES:
        levels = ", ".join(map(str, SEVERITIES))
        raise ValueError(f"severity must be one of {levels}, got {severity!r}")


def check_value(name: str, value: Any, holds: Callable[[Any], bool], expected: str) -> None:
    """Refuse a value that does not hold, or that cannot even be compared; None is no setting."""
    try:
        fine = value is None or holds(value)
    except TypeError:
        fine = False
    if not fine:
        raise ValueError(f"{name} must {expected}, got {value!r}")


def check_given(settings: object, *names: str) -> None:
    """Refuse None where it means nothing."""
    for name in names:
        if getattr(settings, name) is None:
            raise ValueError(f"{name} must have a value, got None; leave it out for the usual one")


def check_whole(name: str, value: int | None, unit: str) -> None:
    """Refuse what is no whole number of one or more; None is no setting."""
    whole = value is not True and value is not False  # which torch takes for no number
    expected = f"be at least 1 {unit}, a whole number"
    check_value(name, value, lambda v: whole and index(v) >= 1, expected)


def whole_seed(seed: Any) -> int:
    """A seed as a plain number; what no random generator takes is refused."""
    if not hasattr(seed, "__index__") or not -(2**63) <= index(seed) < 2**64:
        raise ValueError(f"seed must be a whole number of 64 bits, got {seed!r}")
    return index(seed)


def check_shares(settings: object, *names: str) -> None:
    """Refuse settings of these names that lie outside of [0, 1]; None is no setting."""
    for name in names:
        check_value(name, getattr(settings, name), lambda v: 0 <= v <= 1, "lie in [0, 1]")


def check_positive(settings: object, *names: str) -> None:
    """Refuse settings of these names that are not above 0; None is no setting."""
    for name in names:
        check_value(name, getattr(settings, name), lambda v: v > 0, "be positive")


def check_counts(settings: object, *names: str, least: int = 1, unit: str = "") -> None:
    """Refuse settings of these names that are fewer than ``least``; None is no setting."""
    expected = f"be at least {least} {unit}".rstrip()
    for name in names:
        check_value(name, getattr(settings, name), lambda v: v >= least, expected)


def check_not_negative(settings: object, *names: str) -> None:
    """Refuse settings of these names that are below 0; None is no setting."""
    for name in names:
        check_value(name, getattr(settings, name), lambda v: v >= 0, "be 0 or more")
