"""Label-free signs that a batch holds many classes, so that its own statistics are worth having."""

import math

import torch
from torch import Tensor

from trimtab.core.shares import expected_entropy

STANDS_OUT, FEW = 3.0, 3.0
"""What prominence, and what few classes of trusted predictions, weigh beside a nat of entropy."""
SPREAD = 2.0
"""Standard deviation of logits of which only the shape is to tell."""


def worth(prominence: float, coverage: float, agreement: float, less_sure: float) -> float:
    """How far a batch's own statistics are worth having, as where it holds many classes: above 0.

    Args:
        prominence: How far classes stand out of predictions with the batch's statistics.
        coverage: Share of the classes that predictions with stored statistics show.
        agreement: Of both predictions, beyond chance: as far as it goes, few classes are believed.
        less_sure: By how much the batch's statistics raise the entropy of predictions
            (``shape_entropy``).
    """
    few = FEW * max(0.0, 1 - coverage) * agreement
    return STANDS_OUT * math.log(max(prominence, 1e-6)) - few - less_sure


def shape_entropy(logits: Tensor) -> float:
    """Mean entropy of predictions, in nats, were their logits spread as all others: of their shape.

    How sure a network makes predictions on the whole, which learning changes, does not matter.
    """
    centred = logits - logits.mean(1, keepdim=True)
    spread = SPREAD * centred / centred.std(correction=0).clamp(min=1e-6)
    return float(-(spread.softmax(1) * spread.log_softmax(1)).sum(1).mean())


def kappa(left: Tensor, right: Tensor) -> float:
    """Cohen's kappa: how far two predictions of the same samples agree beyond chance, 0 to 1."""
    size = int(max(left.max(), right.max())) + 1
    shares = [torch.bincount(classes, minlength=size) / len(classes) for classes in (left, right)]
    chance = float((shares[0] * shares[1]).sum())
    agreed = float((left == right).float().mean())
    return max(0.0, (agreed - chance) / max(1 - chance, 1e-6))


def coverage(classes: Tensor, num_classes: int) -> float:
    """Number of classes that samples show, as a share of what independent balanced ones show.

    Classes are counted by the entropy of their shares, so that rare ones count for little.
    """
    shares = torch.unique(classes, return_counts=True)[1] / len(classes)
    entropy = float(-(shares * shares.log()).sum())
    return math.exp(entropy - expected_entropy(len(classes), num_classes))
