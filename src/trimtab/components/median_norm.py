"""Robust batch normalisation by the median (MedBN, Park et al., CVPR 2024, arXiv:2403.19326)."""

from dataclasses import dataclass, replace

from trimtab.core.backbone import Tensors
from trimtab.core.component import NormRule
from trimtab.core.norm import NormPolicy


@dataclass(frozen=True)
class MedianNorm(NormRule):
    """Where batch norms use a batch's statistics, take its median in the place of its mean.

    The variance is the mean square around the median. Samples that were made to move the mean of
    their batch, and with it the predictions of their neighbours, move the median little as long
    as they are fewer than half.
    """

    dense = True

    def norm(self, policy: NormPolicy, samples: int, memory: Tensors) -> NormPolicy:
        if not policy.couples_samples:
            return policy
        return replace(policy, median=True, differentiable=False)  # as good, and faster
