"""Signs that a batch holds many classes."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from trimtab.components.adaptive_norm.signs import (
    coverage,
    entropy_ratio,
    kappa,
    prominence,
)
from trimtab.core.shares import expected_entropy


def noisy(labels: Tensor, classes: int, height: float = 4.0) -> Tensor:
    """Logits of a model that mostly is right: normal noise, and more at the true class."""
    noise = torch.randn(len(labels), classes, generator=torch.Generator().manual_seed(3))
    return noise + height * torch.eye(classes)[labels]


def drawn(samples: int, classes: int) -> Tensor:
    return torch.randint(classes, (samples,), generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("classes", [10, 100])
@pytest.mark.parametrize("samples", [64, 200])
def test_classes_are_prominent_where_they_are_many_and_not_where_there_is_one(
    samples: int, classes: int
) -> None:
    assert prominence(noisy(drawn(samples, classes), classes)) > 1.28
    one = torch.full((samples,), 4)
    assert prominence(noisy(one, classes)) == pytest.approx(1, abs=0.06)


@pytest.mark.parametrize("classes", [2, 3, 5, 10, 1000])
def test_noise_has_a_prominence_of_about_one_whatever_the_number_of_classes(classes: int) -> None:
    noise = torch.randn(256, classes, generator=torch.Generator().manual_seed(1))
    assert prominence(noise) == pytest.approx(1, abs=0.06)


def test_prominence_knows_neither_scale_nor_bias_nor_what_a_sample_adds_to_all_classes() -> None:
    logits = noisy(drawn(64, 10), 10)
    biased = 0.2 * logits + 30 * torch.eye(10)[7] + torch.arange(64.0)[:, None]
    assert prominence(biased) == pytest.approx(prominence(logits), rel=1e-4)
    assert int((biased.argmax(1) == 7).sum()) == 64


def test_prominence_of_a_single_sample_or_class_is_a_number() -> None:
    assert prominence(torch.randn(1, 10)) == 0
    assert prominence(torch.randn(8, 1)) == 0


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
