"""Label shift or another bias since a stretch began: samples are independent, their mean is new.

Where a new stretch still remembers the mean prediction of earlier ones, a model that favours a
class in the new domain looks as if that class stayed. Order is more than that: it has to explain
predictions better than independent draws from a mean of their own do.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from trimtab.core.backbone import Tensors

Numbers = npt.NDArray[Any]

MEAN_SAMPLES = 4.0
"""Samples that the earlier mean counts for in the mean of the new stretch."""


@dataclass
class Shift:
    """What independent draws explain of a stretch, beside a mean that is older than it."""

    drawn: Numbers
    """Samples of each class that the stretch is taken to have shown, (classes,)."""
    gain: float
    """Nats by which a mean of its own makes the stretch's predictions likelier."""

    @classmethod
    def read(cls, memory: Tensors) -> "Shift":
        """The one that a memory holds."""
        return cls(memory["shift_drawn"].cpu().numpy().copy(), float(memory["shift_gain"]))

    def write(self, memory: Tensors) -> None:
        """Put it back into its memory."""
        memory["shift_drawn"].copy_(torch.from_numpy(self.drawn))
        memory["shift_gain"].fill_(self.gain)

    def forget(self) -> None:
        """Begin a stretch."""
        self.drawn, self.gain = np.zeros_like(self.drawn), 0.0

    def gains(self, evidence: Numbers, mean: Numbers, begins: Collection[int]) -> Numbers:
        """Nats by which independence explains each sample, with either mean, (samples,).

        ``evidence`` (samples, classes) are likelihoods relative to the earlier ``mean``
        (samples, classes); at the samples ``begins`` a stretch begins.
        """
        found = np.empty(len(evidence), mean.dtype)
        for number, likelihood in enumerate(evidence):
            if number in begins:
                self.forget()
            before = np.logaddexp(0.0, self.gain)
            joint = (self.drawn + MEAN_SAMPLES * mean[number]) * likelihood
            total = joint.sum()
            self.gain += float(np.log(total / (self.drawn.sum() + MEAN_SAMPLES)))
            self.drawn = self.drawn + joint / total
            found[number] = np.logaddexp(0.0, self.gain) - before
        return found
