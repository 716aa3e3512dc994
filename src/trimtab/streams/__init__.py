"""Streams under domain shift: labelled images, what happens to them, in what order they arrive."""

import importlib
from typing import Any

_HOME = {
    "Batch": "batch",
    "CORRUPTIONS": "corruptions",
    "Corrupted": "domains",
    "Corruptor": "corruptions",
    "LabelledImages": "data",
    "SCENARIOS": "scenarios",
    "Stream": "stream",
    "corrupt": "corruptions",
    "load": "data",
    "scenario": "scenarios",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
