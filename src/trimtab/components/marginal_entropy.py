"""Marginal entropy minimisation over views of one sample (MEMO, arXiv:2110.09506)."""

from dataclasses import dataclass
from math import log

from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.component import Objective, Step


@dataclass(frozen=True)
class MarginalEntropy(Objective):
    """Make all samples of an update agree on one certain prediction.

    Meant for updates whose samples are views of one: it makes views agree, and would make samples
    of different classes agree as well.
    """

    not_dense = "averages predictions over views that move pixels, as if a sample had one class"

    def loss(self, step: Step, memory: Tensors) -> Tensor:
        """The entropy of the mean over all rows, the same for each."""
        log_mean = step.logits.log_softmax(1).logsumexp(0) - log(len(step.logits))
        return -(log_mean.exp() * log_mean).sum().expand(len(step.logits))
