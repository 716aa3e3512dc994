"""Signs that a batch holds many classes."""

import math

import numpy as np
import pytest
import torch

from noisy_logits import drawn, noisy
from trimtab.core.batch_signs import coverage, kappa, shape_entropy, worth
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


def test_entropy_is_of_the_shape_of_logits_whatever_their_scale_and_mean() -> None:
    plain = noisy(drawn(64, 10), 10)
    found = shape_entropy(plain)
    assert shape_entropy(5 * plain + 3) == pytest.approx(found, abs=1e-5)
    assert shape_entropy(noisy(drawn(64, 10), 10, height=0)) > found + 0.1
    assert math.isfinite(shape_entropy(torch.zeros(4, 10)))


def signs(**values: float) -> list[float]:
    found = {"prominence": 1.25, "coverage": 0.9, "agreement": 0.5, "less_sure": 0.2} | values
    return list(found.values())


def test_worth_grows_with_prominence_and_falls_with_entropy() -> None:
    known = worth(*signs())
    assert worth(*signs(prominence=1.4)) > known > worth(*signs(less_sure=0.4))


def test_few_classes_of_stored_statistics_count_as_far_as_predictions_agree() -> None:
    many, few = signs(coverage=1.0), signs(coverage=0.4)
    assert worth(*few) < worth(*many)
    trusted, collapsed = signs(coverage=0.4, agreement=0.9), signs(coverage=0.4, agreement=0.0)
    assert worth(*trusted) < worth(*few) < worth(*collapsed)
    assert worth(*collapsed) == worth(*signs(coverage=1.0, agreement=0.0))


def test_more_classes_than_chance_shows_are_no_better_than_all() -> None:
    assert worth(*signs(coverage=1.1)) == worth(*signs(coverage=1.0))
