"""Embeddings of every block, to be read and aligned (covariance alignment inside a network)."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from trimtab.core.norm import is_norm_layer
from trimtab.core.position import trunk

READING = "reading"
"""Name of the parameter that, where it is not zero, asks for statistics in place of logits."""


class Moments(NamedTuple):
    """Mean (width,) and second moments (width, width) of a block's embeddings."""

    mean: Tensor
    square: Tensor

    @property
    def covariance(self) -> Tensor:
        return self.square - torch.outer(self.mean, self.mean)


class Aligned(nn.Module):
    """A network whose blocks' outputs can be mapped, each by a matrix and a shift.

    Parameters ``matrices.N`` (width, width) and ``shifts.N`` (width,) map the embeddings of block
    N, F @ matrix + shift, where the matrix is not zero. With ``reading`` not zero, the network
    gives for each sample the mean and second moments of each block's embeddings before its map,
    one after the other, in place of logits. At first all are zero: the network is what it was.
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        blocks = trunk(model)
        if not blocks:
            raise ValueError(
                f"{type(model).__name__} has no row of blocks with norm layers, whose outputs "
                "could be aligned; adapt it without"
            )
        self.model = model
        self.widths = [_width(block) for block in blocks]
        self.matrices = nn.ParameterList([nn.Parameter(torch.zeros(w, w)) for w in self.widths])
        self.shifts = nn.ParameterList([nn.Parameter(torch.zeros(w)) for w in self.widths])
        self.reading = nn.Parameter(torch.zeros(()))
        self._read: list[Tensor] = []
        for number, block in enumerate(blocks):
            block.register_forward_hook(partial(self._pass, number))

    def forward(self, *inputs: Any, **named: Any) -> Any:
        self._read.clear()
        try:
            returned = self.model(*inputs, **named)
            return torch.cat(self._read, 1) if bool(self.reading) else returned
        finally:
            self._read.clear()

    def _pass(self, number: int, _block: nn.Module, _inputs: Any, output: Tensor) -> Tensor | None:
        matrix = self.matrices[number]
        reads, maps = bool(self.reading), bool(matrix.any())
        if not reads and not maps:
            return None
        last = output if output.dim() == 3 else output.movedim(1, -1)
        if reads:
            self._read.append(_moments_of_each(last))
        if not maps:
            return None
        mapped: Tensor = last @ matrix.to(last) + self.shifts[number].to(last)
        return mapped if output.dim() == 3 else mapped.movedim(-1, 1)

    def moments(self, read: Tensor) -> list[Moments]:
        """What was read of a batch, averaged over its samples: moments of each block."""
        found, place = [], 0
        for width in self.widths:
            mean = read[:, place : place + width].mean(0)
            square = read[:, place + width : place + width + width**2].mean(0)
            found.append(Moments(mean, square.view(width, width)))
            place += width + width**2
        return found


def aligned(model: nn.Module) -> Aligned:
    """A network whose blocks' embeddings can be read and aligned, for the method ``pea``."""
    return Aligned(model).eval()


def is_alignment(layer: nn.Module, parameter: str) -> bool:
    """Picks the parameter that asks for statistics: a network has it where it is ``Aligned``."""
    return isinstance(layer, Aligned) and parameter == READING


def _moments_of_each(embeddings: Tensor) -> Tensor:
    """Mean and second moments of each sample's embeddings, (batch, width + width ** 2)."""
    flat = embeddings.flatten(1, -2).float()
    squares = flat.transpose(1, 2) @ flat / flat.shape[1]
    return torch.cat([flat.mean(1), squares.flatten(1)], 1)


def _width(block: nn.Module) -> int:
    """Channels of a block's output: those of its last norm layer."""
    weights = [layer.weight for layer in block.modules() if is_norm_layer(layer)]
    return len([weight for weight in weights if isinstance(weight, Tensor)][-1])
