"""How far the likeliest class stands out of a batch's logits: a sign that it holds many classes."""

import math
from functools import cache
from statistics import NormalDist

import torch
from torch import Tensor


def prominence(logits: Tensor) -> float:
    """How far the likeliest class stands out of its own logits, as a multiple of chance.

    Logits are standardised class by class over the batch, as in Standardized Max Logits (Jung et
    al., arXiv:2107.11264), so neither scale nor bias matters; the mean of their maxima is divided
    by the expected maximum of as many normal values that sum to 0. Where samples of many classes
    come together, a class's logits are high for few samples and low for all others. Of one class
    they are a cloud, whichever statistics scatter it, and about 1.
    """
    centred = logits.float() - logits.float().mean(1, keepdim=True)
    deviations, mean = torch.std_mean(centred, 0, correction=0)
    standardised = (centred - mean) / deviations.clamp(min=1e-6)
    return float(standardised.amax(1).mean()) / _largest_of(logits.shape[1])


def highest_prominence(classes: int) -> float:
    """Prominence of perfect predictions of as many samples of each class."""
    return math.sqrt(classes - 1) / _largest_of(classes)


@cache
def _largest_of(count: int) -> float:
    """Expected maximum of this many normal values whose sum is 0 (Blom's approximation)."""
    if count < 2:
        return 1.0
    highest = NormalDist().inv_cdf((count - 0.375) / (count + 0.25))
    return highest * math.sqrt(count / (count - 1))
