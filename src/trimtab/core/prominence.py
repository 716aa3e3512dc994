"""How far the likeliest class stands out of a batch's logits: a sign that it holds many classes."""

import math
from functools import cache
from statistics import NormalDist

import torch
from torch import Tensor


def prominence(logits: Tensor) -> float:
    """How far the likeliest class stands out of its own logits, as a multiple of chance.

    Logits are standardised class by class over the batch, as in Standardized Max Logits (Jung et
    al., arXiv:2107.11264), so neither scale nor bias matters, and whitened, so that it does not
    matter either which classes a network raises and lowers together; the mean of their maxima is
    divided by the expected maximum of as many normal values that sum to 0. Where samples of many
    classes come together, a class's logits are high for few samples and low for all others. Of one
    class they are a cloud, whichever statistics scatter it, and about 1.
    """
    values = logits.double().cpu()
    centred = values - values.mean(1, keepdim=True)
    apart = _standardised(_whitened(_standardised(centred)))
    return float(apart.amax(1).mean()) / _largest_of(logits.shape[1])


def _standardised(values: Tensor) -> Tensor:
    """Each class's values with mean 0 and deviation 1 over the samples."""
    deviations, mean = torch.std_mean(values, 0, correction=0)
    return (values - mean) / deviations.clamp(min=1e-6)


def _whitened(values: Tensor) -> Tensor:
    """Standardised values without their correlation, R^(-1/2) (ZCA).

    R is shrunk towards the identity, the more the fewer samples there are for each class. It has
    the same eigenvalues seen from the samples' side, which is taken where they are fewer.
    """
    samples, classes = values.shape
    shrinkage = classes / (classes + samples)
    by_class = classes <= samples
    products = (values.T @ values if by_class else values @ values.T) / samples
    found, vectors = torch.linalg.eigh(products)
    scales = ((1 - shrinkage) * found.clamp(min=0) + shrinkage).rsqrt()
    root = (vectors * scales) @ vectors.T
    white: Tensor = values @ root if by_class else root @ values
    return white


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
