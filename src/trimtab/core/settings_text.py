"""Settings as text, the same for equal settings in every run: what saved states are told by."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

from torch import Tensor


def described(value: object) -> str:
    """Settings in full; functions and data by their names, which do not change between runs."""
    if is_dataclass(value) and not isinstance(value, type):
        settings = (
            f"{f.name}={described(getattr(value, f.name))}"
            for f in fields(value)
            if f.name != "name"
        )
        return f"{type(value).__name__}({', '.join(settings)})"
    if isinstance(value, tuple):
        return f"({', '.join(described(item) for item in value)})"
    if isinstance(value, Tensor) or not isinstance(value, (str, int, float, bool, type(None))):
        named: Any = value if isinstance(value, Callable) else type(value)  # type: ignore[arg-type]
        return getattr(named, "__qualname__", type(value).__qualname__)
    return repr(value)
