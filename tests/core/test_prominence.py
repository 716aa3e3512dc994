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


@pytest.mark.parametrize("strength", [1, 2, 4])
def test_it_does_not_matter_which_classes_a_network_raises_and_lowers_together(
    strength: int,
) -> None:
    # half of the classes are nearly the same to the network, and so is the other half
    halves = torch.arange(10) // 5
    mixing = torch.eye(10) + strength * (halves[:, None] == halves)
    assert prominence(noisy(drawn(64, 10), 10) @ mixing) > 1.28
    one = noisy(torch.full((64,), 4), 10) @ mixing
    assert prominence(one) == pytest.approx(1, abs=0.07)


def test_prominence_is_the_same_seen_from_the_samples_and_from_the_classes() -> None:
    logits = torch.randn(12, 12, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    more = torch.cat([logits, logits[:, :1]], 1)  # one class more than samples
    centred = more - more.mean(1, keepdim=True)
    wide = (centred - centred.mean(0)) / centred.std(0, correction=0)
    found, vectors = torch.linalg.eigh(wide.T @ wide / 12)
    shrunk = (12 / 25 * found.clamp(min=0) + 13 / 25).rsqrt()
    white = wide @ (vectors * shrunk) @ vectors.T
    apart = (white - white.mean(0)) / white.std(0, correction=0)
    chance = 12**0.5 / highest_prominence(13)
    expected = float(apart.amax(1).mean()) / chance
    assert prominence(more) == pytest.approx(expected, rel=1e-6)


def test_prominence_of_a_single_sample_or_class_is_a_number() -> None:
    assert prominence(torch.randn(1, 10)) == 0
    assert prominence(torch.randn(8, 1)) == 0


@pytest.mark.parametrize("classes", [2, 5, 10, 20])
def test_perfect_predictions_of_even_classes_are_as_prominent_as_can_be(classes: int) -> None:
    perfect = 50 * torch.eye(classes)[torch.arange(20 * classes) % classes]
    assert prominence(perfect) == pytest.approx(highest_prominence(classes), rel=1e-4)
