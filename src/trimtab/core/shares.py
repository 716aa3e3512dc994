"""Shares of classes among predictions, and how many classes they show."""

import math
from functools import cache

import torch
from torch import Tensor


def class_shares(said: Tensor, classes: int) -> Tensor:
    """How often each class is predicted, shape (classes,)."""
    return torch.bincount(said, minlength=classes).float() / max(len(said), 1)


def effective_classes(shares: Tensor) -> float:
    """How many classes show: the exponential of their shares' entropy; rare ones hardly count."""
    return float(torch.special.entr(shares).sum().exp())


@cache
def expected_entropy(samples: int, num_classes: int) -> float:
    """Mean entropy, in nats, of the class shares of independent samples of balanced classes."""
    total = 0.0
    for hits in range(1, samples + 1):
        log_chance = (
            math.lgamma(samples + 1)
            - math.lgamma(hits + 1)
            - math.lgamma(samples - hits + 1)
            - hits * math.log(num_classes)
            + (samples - hits) * math.log1p(-1 / num_classes if num_classes > 1 else -1 + 1e-12)
        )
        share = hits / samples
        total -= num_classes * math.exp(log_chance) * share * math.log(share)
    return total
