"""Tasks: classification, one prediction per sample; semantic segmentation, one per pixel (dense).

Losses and weights take classes along the second dimension, so that logits (batch, classes) give one
number per sample and logits (batch, classes, height, width) one per pixel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from trimtab.core.prediction import Prediction
from trimtab.core.ranges import check_whole


@dataclass(frozen=True)
class Task:
    """Classification: logits (batch, classes)."""

    name: ClassVar[str] = "classification"
    is_dense: ClassVar[bool] = False

    def learned_from(self, logits: Tensor) -> Tensor:
        """The part of the logits that losses and weights see."""
        return logits

    def remembered(self, prediction: Prediction) -> Prediction:
        """The same of a prediction that is to be kept, without the memory of the rest."""
        return prediction.compact()


@dataclass(frozen=True)
class Segmentation(Task):
    """Semantic segmentation: logits (batch, classes, height, width).

    Args:
        pixels: Most pixels of an image that losses and weights see, and that windows remember: a
            grid of every second, third, ... pixel along both sides. All pixels are predicted.
    """

    pixels: int = 2**16

    name: ClassVar[str] = "segmentation"
    is_dense: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_whole("pixels", self.pixels, "pixel")

    def learned_from(self, logits: Tensor) -> Tensor:
        """A grid of the pixels; no copy, and the same again where it is taken of a grid."""
        return on_grid(logits, self.pixels)

    def remembered(self, prediction: Prediction) -> Prediction:
        return Prediction(self.learned_from(prediction.logits).contiguous(), None)


CLASSIFICATION = Task()


def on_grid(logits: Tensor, pixels: int) -> Tensor:
    """At most ``pixels`` pixels of each image: every n-th row and column, beginning within."""
    height, width = logits.shape[-2:]
    step = max(1, math.isqrt(height * width // pixels))
    while math.ceil(height / step) * math.ceil(width / step) > pixels:
        step += 1
    if step == 1:
        return logits
    # begun so that the grid has as many points as it has from the corner, and lies in the middle
    top, left = (((side - 1) % step) // 2 for side in (height, width))
    return logits[..., top::step, left::step]


def task_of(task: str | Task | None) -> Task:
    """The task that a word, a Task or nothing stands for."""
    known: dict[object, Task] = {None: CLASSIFICATION, Segmentation.name: Segmentation()}
    known[CLASSIFICATION.name] = CLASSIFICATION
    if isinstance(task, Task):
        return task
    if task not in known:
        raise ValueError(
            f"task must be 'classification', 'segmentation' or a trimtab.Segmentation, got {task!r}"
        )
    return known[task]
