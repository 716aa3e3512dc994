"""A minority of odd samples hardly moves what batch norms normalise their neighbours by."""

import torch
from torch import nn

import trimtab
from trimtab.components.median_norm import MedianNorm
from trimtab.core.norm import BATCH, SOURCE


def test_it_changes_policies_that_use_the_batch_only() -> None:
    assert MedianNorm().norm(SOURCE, 8, {}) == SOURCE
    assert MedianNorm().norm(BATCH, 8, {}).median


def test_outputs_are_normalised_by_the_median_and_the_squares_around_it() -> None:
    norm = nn.BatchNorm2d(1)
    model = nn.Sequential(norm, nn.Flatten())
    x = torch.rand(5, 1, 2, 1, generator=torch.Generator().manual_seed(0))
    logits = trimtab.adapt(model, "bn1 + median_norm").predict(x)
    middle = x.flatten().median()
    expected = (x - middle) / ((x - middle).square().mean() + norm.eps).sqrt()
    torch.testing.assert_close(logits, expected.flatten(1))


def test_attackers_move_honest_neighbours_less() -> None:
    torch.manual_seed(0)
    norm = nn.BatchNorm2d(3, affine=False)
    backbone = trimtab.Backbone(nn.Sequential(norm, nn.Flatten()))
    honest = torch.randn(16, 3, 4, 4)
    attackers = torch.full((4, 3, 4, 4), 3.0)

    def moved(method: str) -> float:
        adapter = trimtab.adapt(backbone, method)
        alone = adapter.predict(honest).mean()
        return abs(float(adapter.predict(torch.cat([honest, attackers]))[:16].mean() - alone))

    assert moved("bn1 + median_norm") < 0.7 * moved("bn1")
