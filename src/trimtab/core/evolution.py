"""CMA-ES with a diagonal covariance: search without gradients (Ros and Hansen, PPSN 2008).

All that it remembers is in tensors, so that a search can be saved and goes on exactly.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

Tensors = dict[str, Tensor]

LEAST = 1e-9
"""Of a deviation or variance, so that a search that has found its place stays finite."""


class Rates(NamedTuple):
    """Weights of the better half, and the learning rates that follow from them (Hansen, 2016)."""

    weights: tuple[float, ...]
    effective: float
    step_path: float
    damping: float
    path: float
    rank_one: float
    rank_many: float
    expected: float


@cache
def rates(size: int, population: int) -> Rates:
    """The rates for so many numbers and so many candidates in a generation."""
    half = population // 2
    raw = [math.log((population + 1) / 2) - math.log(rank) for rank in range(1, half + 1)]
    weights = tuple(value / sum(raw) for value in raw)
    effective = 1 / sum(weight**2 for weight in weights)
    step_path = (effective + 2) / (size + effective + 5)
    damping = 1 + 2 * max(0.0, math.sqrt((effective - 1) / (size + 1)) - 1) + step_path
    path = (4 + effective / size) / (size + 4 + 2 * effective / size)
    faster = (size + 2) / 3  # a diagonal has fewer numbers to learn
    rank_one = min(1.0, faster * 2 / ((size + 1.3) ** 2 + effective))
    many = faster * 2 * (effective - 2 + 1 / effective) / ((size + 2) ** 2 + effective)
    expected = math.sqrt(size) * (1 - 1 / (4 * size) + 1 / (21 * size**2))
    return Rates(
        weights, effective, step_path, damping, path, rank_one, min(1 - rank_one, many), expected
    )


def begun(size: int, deviation: float, device: torch.device) -> Tensors:
    """A search around zero."""
    zeros = torch.zeros(size, device=device)
    return {
        "mean": zeros.clone(),
        "variances": zeros + 1,
        "path": zeros.clone(),
        "step_path": zeros.clone(),
        "deviation": torch.tensor(deviation, device=device),
        "generation": torch.zeros((), device=device),
    }


def candidates(search: Tensors, population: int, generator: torch.Generator) -> Tensor:
    """Places to try, (population, size)."""
    draws = torch.randn(population, len(search["mean"]), generator=generator)
    spread = search["deviation"] * search["variances"].sqrt()
    return search["mean"] + spread * draws.to(spread)


def learn(search: Tensors, tried: Tensor, costs: Tensor) -> None:
    """Take in what the candidates cost, the less the better; in place."""
    known = rates(tried.shape[1], len(tried))
    best = tried[costs.argsort(stable=True)[: len(known.weights)]]
    weights = best.new_tensor(known.weights)[:, None]
    steps = (best - search["mean"]) / search["deviation"]
    mean_step = (weights * steps).sum(0)
    search["mean"].add_(search["deviation"] * mean_step)
    search["generation"].add_(1)
    _lengthen(search["step_path"], mean_step / search["variances"].sqrt(), known.step_path, known)
    length = float(search["step_path"].norm())
    past = 1 - (1 - known.step_path) ** (2 * float(search["generation"]))
    steady = length / math.sqrt(past) < (1.4 + 2 / (len(mean_step) + 1)) * known.expected
    _lengthen(search["path"], mean_step * float(steady), known.path, known)
    lost = known.rank_one * float(not steady) * known.path * (2 - known.path)
    search["variances"].mul_(1 - known.rank_one - known.rank_many + lost)
    search["variances"].add_(known.rank_one * search["path"].square())
    search["variances"].add_(known.rank_many * (weights * steps.square()).sum(0))
    growth = known.step_path / known.damping * (length / known.expected - 1)
    search["deviation"].mul_(math.exp(min(growth, 1.0))).clamp_(LEAST, 1 / LEAST)
    search["variances"].clamp_(LEAST, 1 / LEAST)


def _lengthen(path: Tensor, step: Tensor, rate: float, known: Rates) -> None:
    path.mul_(1 - rate).add_(math.sqrt(rate * (2 - rate) * known.effective) * step)
