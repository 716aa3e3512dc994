"""A sequential test by betting (e-detector): evidence that grows only where harm is real.

Shin, Ramdas and Rinaldo (arXiv:2203.03532). A bettor stakes a share of its wealth on each sample
being harmed. Where harm is at most what is allowed, its wealth is expected to shrink; so wealth
above 1/a, started again from 1 whenever it is below, is reached on average at most once in 1/a
looks, whatever the samples' distribution and however long the test goes on.
"""

import math

import torch
from torch import Tensor

STAKES = (0.1, 0.25, 0.5)
"""Shares of the wealth that are bet: small ones find small harm, large ones large harm soon."""


def new_wealth() -> Tensor:
    """Logarithms of the wealth of each stake at the beginning, in nats, float64."""
    return torch.zeros(len(STAKES), dtype=torch.float64)


def after(wealth: Tensor, harms: Tensor, allowed: float) -> Tensor:
    """Log wealth of each stake once a look has shown ``harms``, shape (samples,), in [-1, 1].

    Below 0 is 0: the test begins again there, so that old merits hide no new harm.
    """
    stakes = torch.tensor(STAKES, dtype=torch.float64)[:, None]
    gains = (stakes * (harms.to("cpu", torch.float64) - allowed)).log1p().sum(1)
    return (wealth + gains).clamp(min=0.0)


def evidence(wealth: Tensor) -> float:
    """Of harm, in nats: the logarithm of the mean wealth over the stakes."""
    return float(wealth.logsumexp(0)) - math.log(len(wealth))
