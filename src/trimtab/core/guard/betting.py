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


STABILITY, CONCENTRATION, DRIFT = range(3)
"""Signs of harm that are bet on, the last one where a method may drift."""


def new_wealth(may_drift: bool = True) -> Tensor:
    """Log wealth at the beginning, in nats, float64: a row for each sign, a column each stake."""
    return torch.zeros(DRIFT + may_drift, len(STAKES), dtype=torch.float64)


def after(wealth: Tensor, sign: int, harms: Tensor, allowed: float) -> Tensor:
    """Log wealth once a look has shown ``harms`` of a sign, shape (samples,), in [-1, 1].

    Below 0 is 0: the test begins again there, so that old merits hide no new harm.
    """
    stakes = torch.tensor(STAKES, dtype=torch.float64)[:, None]
    gains = (stakes * (harms.to("cpu", torch.float64) - allowed)).log1p().sum(1)
    wealth = wealth.clone()
    wealth[sign] = (wealth[sign] + gains).clamp(min=0.0)
    return wealth


def evidence(wealth: Tensor) -> float:
    """Of harm, in nats: the logarithm of the mean wealth over signs and stakes."""
    return float(wealth.flatten().logsumexp(0)) - math.log(wealth.numel())


def strongest(wealth: Tensor, sign: int) -> float:
    """Log wealth of the best bet on a sign, in nats; 0 where none is made."""
    return float(wealth[sign].amax()) if sign < len(wealth) else 0.0


def benefit(harms: Tensor, allowed: float) -> float:
    """Evidence that adapting helps, in nats: the same bets against harm, by the best beginning.

    Args:
        harms: Of samples, the latest first, shape (samples,).
    """
    stakes = torch.tensor(STAKES, dtype=torch.float64)[:, None]
    gains = (stakes * (-harms.to("cpu", torch.float64) - allowed)).log1p().cumsum(1)
    best = gains.amax(1).clamp(min=0.0)
    return float(best.logsumexp(0)) - math.log(len(STAKES))
