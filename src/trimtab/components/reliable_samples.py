"""Entropy filter: learn from certain samples only (SAR, arXiv:2302.12400)."""

import math
from dataclasses import dataclass

from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.component import Step, Weighting
from trimtab.core.ranges import check_positive
from trimtab.functional import averaged_over_kept, entropy


@dataclass(frozen=True)
class ReliableSamples(Weighting):
    """Leave out samples of high entropy and average over the others.

    Args:
        max_entropy: Entropy from which a sample is left out, as a share of the largest possible
            one, ln(classes).
    """

    max_entropy: float = 0.4

    dense = True

    def __post_init__(self) -> None:
        check_positive(self, "max_entropy")

    def keeps(self, logits: Tensor) -> Tensor:
        """Which rows are certain enough, booleans of shape (batch,), or which pixels are."""
        return entropy(logits) < self.max_entropy * math.log(logits.shape[1])

    def weights(self, step: Step, memory: Tensors) -> Tensor:
        return averaged_over_kept(self.keeps(step.logits).to(step.logits.dtype))
