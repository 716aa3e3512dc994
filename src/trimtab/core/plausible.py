"""Outlier rejection: samples far outside the range that the stream has shown."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from trimtab.core.structured import Structured

FAR = 16.0
"""A sample whose largest value is this many times the largest one shown so far is refused."""

LEAST_PEAK = 1.0
"""Images lie in [0, 1] or further apart: a stream that begins in the dark has shown this much."""

PATIENCE = 32
"""After this many refused samples in a row, without one honest between, the stream's range is
another one now, if values are of a size that cameras give."""

MOST_OF_A_CAMERA = 2.0**16
"""Values of 16 bits, as they come from a sensor."""


@dataclass(frozen=True)
class Shown:
    """The range of values that a stream has shown.

    One frame far out of range (values times 255, a broken sensor) would spoil the statistics of
    all that come after it, and no sign but its size tells it from an honest one.

    Args:
        peak: Largest absolute value of an honest sample; None before the first.
        refused_in_a_row: Samples that were refused since the last honest one.
    """

    peak: float | None = None
    refused_in_a_row: int = 0

    @property
    def limit(self) -> float:
        """Largest absolute value of samples that are not refused, once a sample was seen."""
        return FAR * max(self.peak or 0.0, LEAST_PEAK)

    def judge(self, inputs: Tensor) -> tuple[Tensor | None, "Shown"]:
        """Which samples to refuse, booleans of shape (batch,), or None; and what is shown now.

        A first batch is judged by the sample in its middle.
        """
        if isinstance(inputs, Structured):
            return None, self  # tokens and the like have no range
        low, high = inputs.aminmax()
        largest = max(-low.item(), high.item())
        if self.peak is not None and largest <= self.limit:
            return None, Shown(max(self.peak, largest))
        peaks = inputs.abs().flatten(1).amax(1)
        known = Shown(float(peaks.median())) if self.peak is None else self
        refused = peaks > known.limit
        if not bool(refused.any()):
            return None, Shown(max(known.peak or 0.0, largest))
        return known._after(refused, peaks)

    def _after(self, refused: Tensor, peaks: Tensor) -> tuple[Tensor | None, "Shown"]:
        honest = ~refused
        if bool(honest.any()):
            since = len(honest) - 1 - int(honest.nonzero()[-1])
            return refused, Shown(max(self.peak or 0.0, float(peaks[honest].max())), since)
        row = self.refused_in_a_row + len(refused)
        if row > PATIENCE and float(peaks.median()) <= MOST_OF_A_CAMERA:
            return Shown(float(peaks.median()))._again(peaks)
        return refused, replace(self, refused_in_a_row=row)

    def _again(self, peaks: Tensor) -> tuple[Tensor | None, "Shown"]:
        """Judge by another range."""
        refused = peaks > self.limit
        shown = Shown(float(peaks[~refused].max()))
        return (refused if bool(refused.any()) else None), shown


def merged(refused: Tensor, honest: list[Tensor], by_source: Tensor) -> Tensor:
    """One row of logits for each sample, in the order they came."""
    logits = by_source.new_empty(len(refused), *by_source.shape[1:])
    logits[refused] = by_source
    if honest:
        logits[~refused] = torch.cat(honest).to(logits)
    return logits
