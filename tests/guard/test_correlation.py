"""Correlation in time is told from a bias by neighbours, at any batch size."""

import pytest
import torch
from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.guard import correlation
from trimtab.core.guard.settings import Guard, new_evidence

CLASSES, SAMPLES = 10, 1024


def drawn(count: int, seed: int) -> Tensor:
    return torch.randint(CLASSES, (count,), generator=torch.Generator().manual_seed(seed))


def biased(seed: int) -> Tensor:
    """Independent samples, half of which are said to be of one class."""
    classes = drawn(SAMPLES, seed)
    return torch.where(drawn(SAMPLES, seed + 1) < 5, torch.full_like(classes, 3), classes)


def in_runs(seed: int, run: int) -> Tensor:
    """Runs of one class, of which a third is said to be of any class."""
    truth = drawn(SAMPLES // run + 1, seed).repeat_interleave(run)[:SAMPLES]
    return torch.where(torch.arange(SAMPLES) % 3 == 0, drawn(SAMPLES, seed + 1), truth)


def after(classes: Tensor, batch: int) -> Tensors:
    evidence = new_evidence(Guard(), only_corrects=False)
    for part in classes.split(batch):
        logits = torch.nn.functional.one_hot(part, CLASSES).float()
        evidence = correlation.arrived(evidence, logits)
    return evidence


@pytest.mark.parametrize("batch", [1, 7, 64])
@pytest.mark.parametrize("seed", [0, 10, 20])
def test_a_bias_is_no_correlation(batch: int, seed: int) -> None:
    assert not correlation.is_seen(after(biased(seed), batch))


@pytest.mark.parametrize("batch", [1, 7, 64])
@pytest.mark.parametrize("run", [20, 100])
def test_runs_are_correlated(batch: int, run: int) -> None:
    assert correlation.is_seen(after(in_runs(0, run), batch))


def test_the_same_samples_in_another_order_are_not() -> None:
    shuffled = in_runs(0, 100)[torch.randperm(SAMPLES, generator=torch.Generator().manual_seed(1))]
    assert not correlation.is_seen(after(shuffled, 64))


def test_a_run_that_ends_is_forgotten() -> None:
    assert not correlation.is_seen(after(torch.cat([in_runs(0, 100), *map(biased, range(4))]), 64))


def test_deviations_of_independent_samples_have_the_stated_spread() -> None:
    found = []
    for seed in range(300):
        first, block = biased(seed)[:512], biased(1000 + seed)[:64]
        shares = [torch.bincount(c, minlength=CLASSES).double() / len(c) for c in (block, first)]
        found.append(correlation.deviations_of(shares[0], 64, shares[1], 512))
    deviations = torch.tensor(found)
    assert abs(float(deviations.mean())) < 0.2
    assert 0.8 < float(deviations.std()) < 1.2


def test_nothing_is_said_of_segments_or_before_a_block_was_seen() -> None:
    evidence = new_evidence(Guard(), only_corrects=False)
    assert correlation.arrived(evidence, torch.rand(2, CLASSES, 4, 4)) is evidence
    assert not correlation.is_seen(after(in_runs(0, 100)[:31], 31))
