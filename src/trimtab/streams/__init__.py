"""Streams under domain shift: labelled images, what happens to them, in what order they arrive."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trimtab.streams.batch import Batch
    from trimtab.streams.corruptions import CORRUPTIONS, Corruptor, corrupt
    from trimtab.streams.data import LabelledImages, load
    from trimtab.streams.domains import Corrupted
    from trimtab.streams.scenarios import SCENARIOS, scenario
    from trimtab.streams.stream import Stream

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

__all__ = [
    "CORRUPTIONS",
    "SCENARIOS",
    "Batch",
    "Corrupted",
    "Corruptor",
    "LabelledImages",
    "Stream",
    "corrupt",
    "load",
    "scenario",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
