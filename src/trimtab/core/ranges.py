"""Checks of settings: each says which setting, what was expected and what came."""

SEVERITIES = (1, 2, 3, 4, 5)
"""How strong a corruption can be."""


def check_severity(severity: object) -> None:
    """Refuse what is no severity of a corruption."""
    if severity not in SEVERITIES:
        levels = ", ".join(map(str, SEVERITIES))
        raise ValueError(f"severity must be one of {levels}, got {severity!r}")


def check_shares(settings: object, *names: str) -> None:
    """Refuse settings of these names that lie outside of [0, 1]; None is no setting."""
    for name in names:
        value = getattr(settings, name)
        if value is not None and not 0 <= value <= 1:
            raise ValueError(f"{name} must lie in [0, 1], got {value}")


def check_positive(settings: object, *names: str) -> None:
    """Refuse settings of these names that are not above 0; None is no setting."""
    for name in names:
        value = getattr(settings, name)
        if value is not None and not value > 0:
            raise ValueError(f"{name} must be positive, got {value}")


def check_counts(settings: object, *names: str, least: int = 1, unit: str = "") -> None:
    """Refuse settings of these names that are fewer than ``least``; None is no setting."""
    for name in names:
        value = getattr(settings, name)
        if value is not None and not value >= least:
            words = f"{least} {unit}".strip()
            raise ValueError(f"{name} must be at least {words}, got {value}")


def check_not_negative(settings: object, *names: str) -> None:
    """Refuse settings of these names that are below 0; None is no setting."""
    for name in names:
        value = getattr(settings, name)
        if value is not None and not value >= 0:
            raise ValueError(f"{name} must be 0 or more, got {value}")
