"""The soft likelihood ratio."""

import math

import pytest
import torch

from components.steps import step
from trimtab.components.soft_likelihood_ratio import SoftLikelihoodRatio


def test_the_loss_is_the_negative_expected_log_odds() -> None:
    logits = torch.tensor([[1.0, 0.0, -1.0]])
    total = sum(math.exp(z) for z in (1, 0, -1))
    probs = [math.exp(z) / total for z in (1, 0, -1)]
    expected = -sum(p * math.log(p / (1 - p) + 1e-5) for p in probs)
    assert float(SoftLikelihoodRatio().loss(step(logits), {})) == pytest.approx(expected, rel=1e-5)


def test_a_class_past_the_ceiling_is_not_pushed_further() -> None:
    logits = torch.tensor([[40.0, 0.0, 0.0]], requires_grad=True)
    SoftLikelihoodRatio().loss(step(logits), {}).sum().backward()
    assert logits.grad is not None
    assert logits.grad.abs().max() < 1e-6


def test_the_ceiling_must_lie_between_0_and_1() -> None:
    with pytest.raises(ValueError, match="ceiling must lie between 0 and 1, got 1"):
        SoftLikelihoodRatio(1.0)
