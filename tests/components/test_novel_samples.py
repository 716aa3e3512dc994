"""Samples that are certain and new count, the most certain ones most."""

from dataclasses import replace
from math import exp, log

import pytest
import torch
from torch import Tensor

from components.steps import step
from trimtab.components.novel_samples import NovelSamples


def certain_of(*classes: int, strength: float = 8.0) -> Tensor:
    """Logits that are certain of one class each, of four."""
    return torch.nn.functional.one_hot(torch.tensor(classes), 4) * strength


def entropies(logits: Tensor) -> list[float]:
    return [-sum(p * log(p) for p in row) for row in logits.double().softmax(1).tolist()]


def test_a_kept_sample_weighs_exp_of_limit_minus_entropy_over_the_number_kept() -> None:
    logits = torch.cat([certain_of(0, 1, strength=5.0), torch.zeros(2, 4), certain_of(2)])
    weights = NovelSamples().weights(step(logits), {})
    limit = 0.4 * log(4)
    expected = [exp(limit - e) * 5 / 3 if e < limit else 0.0 for e in entropies(logits)]
    assert expected[2:4] == [0, 0]
    torch.testing.assert_close(weights, torch.tensor(expected))


def test_the_first_batch_is_not_compared_with_anything() -> None:
    memory: dict[str, Tensor] = {}
    weights = NovelSamples(max_similarity=0.01).weights(step(certain_of(1, 1, 1)), memory)
    assert (weights > 0).all()
    torch.testing.assert_close(memory["mean_probs"], certain_of(1).softmax(1)[0])


def test_what_resembles_the_mean_of_earlier_samples_is_left_out() -> None:
    rule, memory = NovelSamples(max_similarity=0.4), {}  # type: ignore[var-annotated]
    rule.weights(step(certain_of(0, 0)), memory)
    weights = rule.weights(step(certain_of(0, 1, 0, 2)), memory)
    assert (weights > 0).tolist() == [False, True, False, True]


def test_the_mean_moves_towards_the_kept_samples_only() -> None:
    rule, memory = NovelSamples(max_similarity=0.4, momentum=0.9), {}  # type: ignore[var-annotated]
    rule.weights(step(certain_of(0)), memory)
    first = memory["mean_probs"].clone()
    rule.weights(step(torch.cat([certain_of(0, 1), torch.zeros(1, 4)])), memory)
    expected = 0.9 * first + 0.1 * certain_of(1).softmax(1)[0]
    torch.testing.assert_close(memory["mean_probs"], expected)


def test_the_mean_stays_when_nothing_is_kept() -> None:
    rule, memory = NovelSamples(), {}  # type: ignore[var-annotated]
    assert rule.weights(step(torch.zeros(2, 4)), memory).tolist() == [0, 0]
    assert memory == {}
    rule.weights(step(certain_of(0)), memory)
    before = memory["mean_probs"].clone()
    assert rule.weights(step(certain_of(0, 0)), memory).tolist() == [0, 0]
    assert torch.equal(memory["mean_probs"], before)


@pytest.mark.parametrize(("side", "kept"), [(32, True), (64, True), (65, False), (224, False)])
def test_large_images_must_differ_more(side: int, kept: bool) -> None:
    rule, memory = NovelSamples(), {"mean_probs": torch.tensor([0.2, 0.8, 0.0, 0.0])}
    images = torch.zeros(1, 3, side, side)
    weights = rule.weights(replace(step(certain_of(0)), inputs=images), memory)
    assert bool(weights > 0) is kept  # the cosine is about 0.24


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_entropy": 0}, "max_entropy must be positive, got 0"),
        ({"max_similarity": -0.1}, "max_similarity must be positive, got -0.1"),
        ({"momentum": 1.5}, r"momentum must lie in \[0, 1\], got 1.5"),
    ],
)
def test_settings_out_of_range_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NovelSamples(**options)
