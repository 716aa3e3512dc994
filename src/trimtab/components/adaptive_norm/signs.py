"""Label-free signs that a batch holds many classes."""

import math

import torch
from torch import Tensor

from trimtab.core.shares import expected_entropy

STANDS_OUT, FEW = 3.0, 3.0
"""What prominence, and what few classes of trusted predictions, weigh beside entropy."""


def worth(prominence: Tensor, coverage: Tensor, agreement: Tensor, unsure: Tensor) -> Tensor:
    """How far a batch's own statistics are worth having, as where it holds many classes: above 0.

    Args:
        prominence: How far classes stand out of predictions with the batch's statistics.
        coverage: Share of the classes that predictions with stored statistics show.
        agreement: Of both predictions, beyond chance: as far as it goes, few classes are believed.
        unsure: Entropy with the batch's statistics as a multiple of that with stored ones.
    """
    lacking = (1 - coverage).clamp(min=0)
    return STANDS_OUT * prominence.log() - FEW * lacking * agreement - unsure.log()


def entropy_ratio(left: Tensor, right: Tensor) -> float:
    """Mean entropy of some predictions, divided by that of others; 0.25 to 4."""
    return min(max(_entropy(left) / max(_entropy(right), 1e-6), 0.25), 4.0)


def _entropy(logits: Tensor) -> float:
    """Mean entropy of predictions, in nats."""
    return float(-(logits.softmax(1) * logits.log_softmax(1)).sum(1).mean())


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
