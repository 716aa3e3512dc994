"""Robust pseudo-labels by generalised cross entropy (RPL, arXiv:2104.12928)."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.component import Objective, Step


@dataclass(frozen=True)
class RobustPseudoLabel(Objective):
    """Generalised cross entropy against one's own prediction: (1 - p^exponent) / exponent.

    Args:
        exponent: Towards 0 it becomes the cross entropy, at 1 the mean absolute error, which a
            wrong label disturbs least.
    """

    exponent: float = 0.8
    rowwise: ClassVar[bool] = True

    dense = True

    def __post_init__(self) -> None:
        if not 0 < self.exponent <= 1:
            raise ValueError(f"exponent must lie in (0, 1], got {self.exponent}")

    def loss(self, step: Step, memory: Tensors) -> Tensor:
        predicted = step.logits.softmax(1).amax(1)
        return (1 - predicted**self.exponent) / self.exponent
