"""Soft likelihood ratio: certainty without vanishing gradients (ROID, arXiv:2306.00650)."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.component import Objective, Step
from trimtab.functional import soft_likelihood_ratio


@dataclass(frozen=True)
class SoftLikelihoodRatio(Objective):
    """Raise the odds of what is believed already, up to ``ceiling``."""

    ceiling: float = 0.99
    rowwise: ClassVar[bool] = True

    dense = True

    def __post_init__(self) -> None:
        if not 0 < self.ceiling < 1:
            raise ValueError(f"ceiling must lie between 0 and 1, got {self.ceiling}")

    def loss(self, step: Step, memory: Tensors) -> Tensor:
        return soft_likelihood_ratio(step.logits, self.ceiling)
