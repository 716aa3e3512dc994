"""Entropy minimisation (TENT, arXiv:2006.10726)."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.component import Objective, Step
from trimtab.functional import entropy


@dataclass(frozen=True)
class Entropy(Objective):
    """Entropy minimisation: make predictions more certain."""

    rowwise: ClassVar[bool] = True
    dense = True

    def loss(self, step: Step, memory: Tensors) -> Tensor:
        return entropy(step.logits)
