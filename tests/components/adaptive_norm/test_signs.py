"""Signs that a batch holds many classes."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from noisy_logits import drawn, noisy
from trimtab.components.adaptive_norm.signs import coverage, entropy_ratio, kappa, worth
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


def signs(**values: float) -> list[Tensor]:
    found = {"prominence": 1.25, "coverage": 0.9, "agreement": 0.5, "unsure": 1.2} | values
    return [torch.tensor(value) for value in found.values()]


def test_worth_grows_with_prominence_and_falls_with_entropy() -> None:
    known = worth(*signs())
    assert worth(*signs(prominence=1.4)) > known > worth(*signs(unsure=1.5))


def test_few_classes_of_stored_statistics_count_as_far_as_predictions_agree() -> None:
    many, few = signs(coverage=1.0), signs(coverage=0.4)
    assert worth(*few) < worth(*many)
    trusted, collapsed = signs(coverage=0.4, agreement=0.9), signs(coverage=0.4, agreement=0.0)
    assert worth(*trusted) < worth(*few) < worth(*collapsed)
    assert worth(*collapsed) == worth(*signs(coverage=1.0, agreement=0.0))


def test_more_classes_than_chance_shows_are_no_better_than_all() -> None:
    assert worth(*signs(coverage=1.1)) == worth(*signs(coverage=1.0))
