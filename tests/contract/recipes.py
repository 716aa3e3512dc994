"""Methods and components with what they need to be tried: found by discovery, none is listed."""

import inspect
from typing import Any

from torch import Tensor

import trimtab
from selection import NORMS
from trimtab.core.component import Component

FEW: dict[str, Any] = {"views": 2, "memory_size": 16}
"""Options that make dear methods cheap, for those that have them."""


def rotated(*names: str) -> str:
    """One kind of norm for these names; over all names, all kinds come up as often."""
    return NORMS[sum(sum(name.encode()) for name in names) % len(NORMS)]


def source_data(recorded: dict[str, Tensor]) -> list[tuple[Tensor, Tensor]]:
    """One small batch of labelled source images."""
    return [(recorded["source_x"][:16].float() / 255, recorded["source_y"][:16])]


def options_of(method: str, recorded: dict[str, Tensor]) -> dict[str, Any]:
    """Source data for methods that take some, few views for those that take many."""
    known = inspect.signature(trimtab.METHODS[method]).parameters
    offered = {"source_data": source_data(recorded), **FEW}
    return {name: value for name, value in offered.items() if name in known}


def full_batch(method: str) -> int:
    """Samples in a batch; few where each image is adapted to by itself, whatever the batch."""
    return 3 if method == "memo" else 16


def component(name: str, recorded: dict[str, Tensor]) -> Component:
    """A component by its name, with source data where it needs some."""
    kind = trimtab.COMPONENTS[name]
    parameter = inspect.signature(kind).parameters.get("source_data")
    wants = parameter is not None and name not in ("prototype_contrast",)
    return kind(source_data=source_data(recorded)) if wants else kind()


def learners() -> list[str]:
    """The methods that learn."""
    data = {"source_data": [()]}
    built = {
        name: factory(**(data if name == "eata" else {}))
        for name, factory in trimtab.METHODS.items()
    }
    return [name for name, method in built.items() if method.learns]
