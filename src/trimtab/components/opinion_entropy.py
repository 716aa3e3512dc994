"""Conservative entropy minimisation with an uncertainty mass (COME, arXiv:2410.10894)."""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.component import Objective, Step
from trimtab.functional import entropy


@dataclass(frozen=True)
class OpinionEntropy(Objective):
    """Entropy of a subjective opinion: a belief in each class, and what is left undecided.

    With evidence exp(logit) for each of C classes, beliefs are the evidences divided by their sum
    plus C, and the uncertainty is C divided by it. This is a softmax over one more class, whose
    logit is ln C. Logits count by their direction alone: their length is taken as it is, without
    gradient, so that certainty cannot be had by longer logits.
    """

    rowwise: ClassVar[bool] = True
    dense = True

    def loss(self, step: Step, memory: Tensors) -> Tensor:
        return entropy(opinion(with_fixed_length(step.logits)))


def opinion(logits: Tensor) -> Tensor:
    """Logits of beliefs in the classes and, last, of the uncertainty: one class more."""
    undecided = torch.full_like(logits[:, :1], math.log(logits.shape[1]))
    return torch.cat([logits, undecided], 1)


def with_fixed_length(logits: Tensor) -> Tensor:
    """The same numbers; gradients turn each row, and do not stretch it."""
    length = logits.norm(dim=1, keepdim=True).clamp(min=torch.finfo(logits.dtype).tiny ** 0.5)
    scale: Tensor = length.detach() / length
    return logits * scale
