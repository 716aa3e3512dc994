"""Weights by certainty and diversity."""

import math

import pytest
import torch
from torch import Tensor

from components.steps import step
from trimtab.components.certainty_diversity import CertaintyDiversity


def memory(classes: int = 4) -> dict[str, Tensor]:
    return {"mean_probs": torch.full((classes,), 1 / classes)}


def weights_by_hand(logits: Tensor, mean: Tensor, temperature: float) -> list[float]:
    """The paper's formulas (3) and (4), one sample at a time."""
    probs = [[math.exp(z) / sum(math.exp(o) for o in row) for z in row] for row in logits.tolist()]
    average = mean.tolist()
    diversity, certainty = [], []
    for row in probs:
        dot = sum(a * b for a, b in zip(row, average, strict=True))
        size = math.sqrt(sum(a * a for a in row)) * math.sqrt(sum(b * b for b in average))
        diversity.append(1 - dot / size)
        certainty.append(sum(p * math.log(p) for p in row))
    diversity = [(d - min(diversity)) / (max(diversity) - min(diversity)) for d in diversity]
    certainty = [(c - min(certainty)) / (max(certainty) - min(certainty)) for c in certainty]
    threshold = sum(diversity) / len(diversity)
    return [
        math.exp(d * c / temperature) if d >= threshold else 0.0
        for d, c in zip(diversity, certainty, strict=True)
    ]


def test_weights_follow_the_papers_formulas() -> None:
    logits = torch.randn(12, 4, generator=torch.Generator().manual_seed(2)) * 2
    mean = torch.tensor([0.4, 0.3, 0.2, 0.1])
    weights = CertaintyDiversity().weights(step(logits), {"mean_probs": mean.clone()})
    torch.testing.assert_close(weights, torch.tensor(weights_by_hand(logits, mean, 1 / 3)))


def test_the_mean_moves_by_a_tenth_towards_the_batch_after_the_weights() -> None:
    logits = torch.randn(6, 4)
    state = memory()
    CertaintyDiversity().weights(step(logits), state)
    expected = 0.9 * torch.full((4,), 0.25) + 0.1 * logits.softmax(1).mean(0)
    torch.testing.assert_close(state["mean_probs"], expected)


def test_kept_weights_lie_between_one_and_e_cubed() -> None:
    weights = CertaintyDiversity().weights(step(torch.randn(50, 4)), memory())
    kept = weights[weights > 0]
    assert 0 < len(kept) < 50
    assert kept.min() >= 1
    assert kept.max() <= math.exp(3) + 1e-3


def test_of_two_samples_one_is_kept() -> None:
    weights = CertaintyDiversity().weights(step(torch.randn(2, 4)), memory())
    assert (weights > 0).sum() == 1


@pytest.mark.parametrize("samples", [1, 5])
def test_samples_that_cannot_be_told_apart_count_once(samples: int) -> None:
    logits = torch.tensor([[2.0, 0.0, -1.0, 0.5]]).repeat(samples, 1)
    weights = CertaintyDiversity().weights(step(logits), memory())
    assert torch.equal(weights, torch.ones(samples))


def test_equal_diversity_leaves_it_to_certainty() -> None:
    # a mean of zeros is equally far from everything
    logits = torch.tensor([[3.0, 0, 0, 0], [0.5, 0, 0, 0]])
    weights = CertaintyDiversity().weights(step(logits), {"mean_probs": torch.zeros(4)})
    torch.testing.assert_close(weights, torch.tensor([math.exp(3), 1.0]))


def test_equal_certainty_leaves_it_to_diversity() -> None:
    logits = torch.tensor([[3.0, 0, 0, 0], [0, 3.0, 0, 0]])
    mean = torch.tensor([1.0, 0, 0, 0])
    weights = CertaintyDiversity().weights(step(logits), {"mean_probs": mean})
    torch.testing.assert_close(weights, torch.tensor([0.0, math.exp(3)]))


@pytest.mark.parametrize("bad", [{"temperature": 0.0}, {"momentum": 1.5}])
def test_settings_are_checked(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must"):
        CertaintyDiversity(**bad)
