"""Signs that a batch holds many classes."""

import math

import numpy as np
import pytest
import torch

from noisy_logits import drawn, noisy
from trimtab.components.adaptive_norm.signs import coverage, entropy_ratio, kappa
from trimtab.core.shares import expected_entropy


def test_the_expected_entropy_is_that_of_many_draws() -> None:
    random = np.random.default_rng(0)
    for samples, classes in ((24, 10), (64, 10), (64, 1000), (5, 2)):
        draws = random.integers(0, classes, (4000, samples))
        entropies = []
        for draw in draws:
            shares = np.unique(draw, return_counts=True)[1] / samples
            entropies.append(-(shares * np.log(shares)).sum())
        assert expected_entropy(samples, classes) == pytest.approx(np.mean(entropies), abs=0.02)


def test_coverage_is_one_for_independent_samples_and_small_for_one_class() -> None:
    assert coverage(drawn(64, 10).float(), 10) == pytest.approx(1, abs=0.1)
    assert coverage(drawn(64, 1000).float(), 1000) == pytest.approx(1, abs=0.1)
    assert coverage(torch.zeros(64), 10) == pytest.approx(math.exp(-expected_entropy(64, 10)))


def test_kappa_is_agreement_beyond_chance() -> None:
    classes = torch.tensor([0, 0, 1, 1])
    assert kappa(classes, classes) == pytest.approx(1)
    assert kappa(classes, torch.tensor([0, 1, 0, 1])) == pytest.approx(0)
    assert kappa(torch.zeros(4, dtype=torch.long), torch.zeros(4, dtype=torch.long)) == 0


def test_the_entropy_ratio_is_above_one_where_the_first_are_less_sure() -> None:
    logits = noisy(drawn(64, 10), 10)
    assert entropy_ratio(0.5 * logits, logits) > 1.2
    assert entropy_ratio(logits, 0.5 * logits) < 1 / 1.2
    assert entropy_ratio(0 * logits, 100 * logits) == 4
