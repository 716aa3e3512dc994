"""The same streams stepping alone, to compare a fleet's with."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import torch
from torch import Tensor

import trimtab
from contract.recipes import options_of
from trimtab.core.adapter import Adapter
from trimtab.core.method import Method

SIZES = {"a": 3, "b": 1, "c": 4}
"""Samples in each batch of three streams."""


def trained_by_sgd(name: str, recorded: dict[str, Tensor], lr: float | None = None) -> Method:
    """A method with SGD: Adam makes steps of roundings where gradients vanish."""
    method = trimtab.build(name, **options_of(name, recorded))
    return replace(method, optimizer=replace(method.optimizer, kind="sgd", lr=lr))


def batches(images: Tensor, steps: int) -> Iterator[dict[str, Tensor]]:
    """Batches of each stream, none of which sees another's images."""
    rows = iter(images.split(1))
    for _ in range(steps):
        yield {name: torch.cat([next(rows) for _ in range(size)]) for name, size in SIZES.items()}


def largest_gap(one: Mapping[str, Tensor], other: Mapping[str, Tensor]) -> float:
    """The largest difference between tensors of the same names, where values exceed 1 as a share of
    a tensor's largest: sums of gradients are rounded by their largest terms.
    """
    assert one.keys() == other.keys()
    return max((_gap(one[name].double(), other[name].double()) for name in one), default=0.0)


def _gap(one: Tensor, other: Tensor) -> float:
    if not one.numel():
        return 0.0
    return float((one - other).abs().max() / other.abs().max().clamp(min=1))


def gap_of_states(one: Adapter, other: Adapter) -> float:
    """The largest difference between what two streams have come to."""
    a, b = one.state_dict(), other.state_dict()
    assert a["counters"] == b["counters"]
    assert a["pace"] == b["pace"]
    assert torch.equal(a["generator"], b["generator"])
    gaps = [largest_gap(a[group], b[group]) for group in ("params", "statistics", "window")]
    for group in ("memory", "optimizer"):
        assert a[group].keys() == b[group].keys()
        gaps += [largest_gap(a[group][name], b[group][name]) for name in a[group]]
    return max(gaps)
