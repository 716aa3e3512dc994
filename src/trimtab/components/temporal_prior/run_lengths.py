"""How long runs of one class last along a stream."""

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt
import torch

from trimtab.core.backbone import Tensors

Numbers = npt.NDArray[Any]

RUNS = 10.0
"""Runs over which lengths are remembered."""
BLOCK_SAMPLES = 16
"""Consecutive samples whose class is one."""


@dataclass
class RunLengths:
    """The run under way, and how long those before it were."""

    label: int
    """Class of the run under way, -1 before the first."""
    length: float
    """Its samples so far."""
    total: float
    """Sum of earlier lengths, and of their squares."""
    squares: float

    @classmethod
    def read(cls, memory: Tensors) -> "RunLengths":
        """The lengths that a memory holds."""
        label, length, total, squares = memory["runs"].tolist()
        return cls(int(label), length, total, squares)

    def write(self, memory: Tensors) -> None:
        """Put them back into their memory."""
        values = [self.label, self.length, self.total, self.squares]
        memory["runs"].copy_(torch.tensor(values, dtype=torch.float32))

    @property
    def usual(self) -> float:
        """Length of the run that a sample belongs to, on average over samples; 0 if unknown."""
        return self.squares / self.total if self.total > 0 else 0.0

    def follow(self, predictions: Numbers, plain: bool) -> None:
        """Go on with consecutive predictions, (samples, classes).

        Runs that end count if order is ``plain``.
        """
        for first in range(0, len(predictions), BLOCK_SAMPLES):
            block = predictions[first : first + BLOCK_SAMPLES]
            label = int(block.sum(0).argmax())
            if label == self.label:
                self.length += len(block)
                continue
            if plain and self.label >= 0:
                kept = 1 - 1 / RUNS
                self.total = kept * self.total + self.length
                self.squares = kept * self.squares + self.length**2
            self.label, self.length = label, float(len(block))
