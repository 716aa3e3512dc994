"""Checks that plain values from a file are of the types that a dataclass declares."""

import math
import types
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

WORDS: dict[type, str] = {
    int: "a whole number",
    float: "a number",
    str: "text",
    bool: "true or false",
}


def check_fields(kind: type, values: Mapping[str, Any]) -> None:
    """Raise a ValueError that names the first value which is not of its field's type."""
    hints = _hints(kind)
    for name, value in values.items():
        if name in hints and not fits(value, hints[name]):
            raise ValueError(f"{name} must be {described(hints[name])}, got {shown(value)}")


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def fits(value: Any, hint: Any) -> bool:
    """Whether a value as JSON or TOML knows it is of the annotated type; numbers are finite."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(fits(value, part) for part in inner)
    if origin is Literal:
        return value in inner
    if origin is list:
        return isinstance(value, list) and all(fits(item, inner[0]) for item in value)
    if origin is tuple:
        return _is_row(value, inner)
    if origin is not None:  # a mapping
        return isinstance(value, Mapping) and all(
            fits(key, inner[0]) and fits(item, inner[1]) for key, item in value.items()
        )
    if issubclass(hint, tuple):  # a named one
        return _is_row(value, tuple(_hints(hint).values()))
    if hint is float:
        return type(value) in (int, float) and math.isfinite(value)
    return type(value) is hint or (not isinstance(value, bool | int) and isinstance(value, hint))


def _is_row(value: Any, kinds: tuple[Any, ...]) -> bool:
    if not isinstance(value, list | tuple) or len(value) != len(kinds):
        return False
    return all(fits(item, kind) for item, kind in zip(value, kinds, strict=True))


def described(hint: Any) -> str:
    """A type in words: ``a whole number or nothing``."""
    if get_origin(hint) in (Union, types.UnionType):
        return " or ".join(
            "nothing" if part is type(None) else described(part) for part in get_args(hint)
        )
    if get_origin(hint) is Literal:
        return " or ".join(map(repr, get_args(hint)))
    if get_origin(hint) in (list, tuple):
        return "a list of numbers"
    return "a table" if get_origin(hint) is not None else WORDS.get(hint, str(hint))


def shown(value: Any, most: int = 60) -> str:
    """A value as errors show it, the end left out where it is long."""
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"
