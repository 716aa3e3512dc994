"""Prominence: where a batch holds many classes, the likeliest stands out of its own logits."""

import pytest
import torch

from noisy_logits import drawn, noisy
from trimtab.core.prominence import highest_prominence, prominence


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


@pytest.mark.parametrize("classes", [2, 5, 10, 20])
def test_perfect_predictions_of_even_classes_are_as_prominent_as_can_be(classes: int) -> None:
    perfect = 50 * torch.eye(classes)[torch.arange(20 * classes) % classes]
    assert prominence(perfect) == pytest.approx(highest_prominence(classes), rel=1e-4)
