"""Moments of an optimiser kept in few tensors, and cut into parts only when somebody asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

import torch
from torch import Tensor


class MomentRows(Mapping[int, dict[str, Tensor]]):
    """What an optimiser remembers of each tensor, by its place.

    Args:
        rows: By what is remembered, the values of all tensors one after the other.
        shapes: Of the tensors.
        steps: How many steps there were, where the optimiser counts them.
    """

    def __init__(
        self, rows: dict[str, Tensor], shapes: tuple[torch.Size, ...], steps: float | None
    ) -> None:
        self.rows = rows
        self.shapes = shapes
        self.steps = steps

    @cached_property
    def _parts(self) -> list[dict[str, Tensor]]:
        parts: list[dict[str, Tensor]] = [{} for _ in self.shapes]
        if self.steps is not None:
            for part, count in zip(parts, torch.full((len(parts),), self.steps), strict=True):
                part["step"] = count
        for name, row in self.rows.items():
            for part, tensor in zip(parts, split(row, self.shapes), strict=True):
                part[name] = tensor
        return parts

    def __getitem__(self, place: int) -> dict[str, Tensor]:
        return self._parts[place]

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.shapes)))

    def __len__(self) -> int:
        return len(self.shapes)


class Layout(NamedTuple):
    """How tensors lie in a row: how many values each has, and whether all are vectors."""

    sizes: tuple[int, ...]
    plain: bool


@lru_cache(maxsize=256)
def layout_of(shapes: tuple[torch.Size, ...]) -> Layout:
    """How tensors of these shapes lie in a row."""
    sizes = tuple(shape.numel() for shape in shapes)
    return Layout(sizes, all(len(shape) == 1 for shape in shapes))


def split(row: Tensor, shapes: tuple[torch.Size, ...]) -> Sequence[Tensor]:
    """A row of values as tensors of these shapes, which share its memory."""
    sizes, plain = layout_of(shapes)
    # not tracked as views of each other, which would take longer than all else here
    parts: Sequence[Tensor] = row.unsafe_split_with_sizes(sizes)
    return parts if plain else [part.view(s) for part, s in zip(parts, shapes, strict=True)]
