"""A search without gradients finds the least cost, as its tutorial writes it down."""

import math

import pytest
import torch
from torch import Tensor

from trimtab.core import evolution


class ByHand:
    """Hansen's tutorial (arXiv:1604.00772) with a diagonal covariance, in plain numbers."""

    def __init__(self, size: int, deviation: float) -> None:
        self.mean, self.c = [0.0] * size, [1.0] * size
        self.pc, self.ps = [0.0] * size, [0.0] * size
        self.sigma, self.g = deviation, 0

    def learn(self, tried: list[list[float]], costs: list[float]) -> None:
        n, lam = len(self.mean), len(tried)
        mu = lam // 2
        raw = [math.log((lam + 1) / 2) - math.log(i + 1) for i in range(mu)]
        w = [value / sum(raw) for value in raw]
        mueff = 1 / sum(value**2 for value in w)
        cs = (mueff + 2) / (n + mueff + 5)
        ds = 1 + 2 * max(0, math.sqrt((mueff - 1) / (n + 1)) - 1) + cs
        cc = (4 + mueff / n) / (n + 4 + 2 * mueff / n)
        c1 = min(1, (n + 2) / 3 * 2 / ((n + 1.3) ** 2 + mueff))
        cmu = min(1 - c1, (n + 2) / 3 * 2 * (mueff - 2 + 1 / mueff) / ((n + 2) ** 2 + mueff))
        chi = math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n**2))
        best = [tried[i] for i in sorted(range(lam), key=lambda i: costs[i])[:mu]]
        y = [[(x[d] - self.mean[d]) / self.sigma for d in range(n)] for x in best]
        yw = [sum(w[i] * y[i][d] for i in range(mu)) for d in range(n)]
        self.mean = [self.mean[d] + self.sigma * yw[d] for d in range(n)]
        self.g += 1
        for d in range(n):
            step = math.sqrt(cs * (2 - cs) * mueff) * yw[d] / math.sqrt(self.c[d])
            self.ps[d] = (1 - cs) * self.ps[d] + step
        length = math.sqrt(sum(value**2 for value in self.ps))
        h = length / math.sqrt(1 - (1 - cs) ** (2 * self.g)) < (1.4 + 2 / (n + 1)) * chi
        for d in range(n):
            self.pc[d] = (1 - cc) * self.pc[d] + h * math.sqrt(cc * (2 - cc) * mueff) * yw[d]
            many = sum(w[i] * y[i][d] ** 2 for i in range(mu))
            keep = 1 - c1 - cmu + (1 - h) * c1 * cc * (2 - cc)
            self.c[d] = keep * self.c[d] + c1 * self.pc[d] ** 2 + cmu * many
        self.sigma *= math.exp(min(1.0, cs / ds * (length / chi - 1)))


def ellipsoid(places: Tensor) -> Tensor:
    """Least at one, a hundred times steeper along the last axis than along the first."""
    return ((places - 1).square() * torch.logspace(0, 2, places.shape[1])).sum(1)


def double(search: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.double() for name, value in search.items()}


def test_it_is_what_the_tutorial_writes_down() -> None:
    search = double(evolution.begun(5, 0.5, torch.device("cpu")))
    hand, generator = ByHand(5, 0.5), torch.Generator().manual_seed(0)
    for _ in range(40):
        tried = evolution.candidates(search, 12, generator)
        costs = ellipsoid(tried)
        evolution.learn(search, tried, costs)
        hand.learn(tried.tolist(), costs.tolist())
        for name, expected in (("mean", hand.mean), ("variances", hand.c), ("path", hand.pc)):
            torch.testing.assert_close(search[name], torch.tensor(expected).double())
        assert float(search["deviation"]) == pytest.approx(hand.sigma)


@pytest.mark.parametrize("size", [1, 3, 40])
def test_it_finds_the_least_cost(size: int) -> None:
    search, generator = evolution.begun(size, 0.5, torch.device("cpu")), torch.Generator()
    for _ in range(250):
        tried = evolution.candidates(search, 16, generator)
        evolution.learn(search, tried, ellipsoid(tried))
    assert float(ellipsoid(search["mean"][None])) < 1e-3
