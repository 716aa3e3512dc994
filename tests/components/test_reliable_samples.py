"""Only certain samples count."""

import math

import pytest
import torch

from components.steps import step
from trimtab.components.reliable_samples import ReliableSamples

CERTAIN, UNSURE = [9.0, 0.0, 0.0, 0.0], [0.1, 0.0, 0.0, 0.0]


def test_uncertain_samples_are_left_out_and_the_rest_is_averaged() -> None:
    logits = torch.tensor([CERTAIN, UNSURE, CERTAIN, UNSURE, UNSURE, UNSURE])
    weights = ReliableSamples().weights(step(logits), {})
    assert weights.tolist() == [3, 0, 3, 0, 0, 0]
    losses = torch.arange(6.0)
    assert (weights * losses).mean() == losses[[0, 2]].mean()


def test_the_limit_itself_is_left_out() -> None:
    logits = torch.zeros(1, 2)  # entropy ln 2, the largest possible
    assert not ReliableSamples(max_entropy=1.0).keeps(logits)
    assert ReliableSamples(max_entropy=1.0 + 1e-3).keeps(logits)


def test_the_limit_is_a_share_of_the_largest_entropy() -> None:
    two_of_four = torch.tensor([[50.0, 50.0, 0.0, 0.0]])  # entropy ln 2, half of ln 4
    assert math.log(2) == pytest.approx(0.5 * math.log(4))
    assert not ReliableSamples(max_entropy=0.49).keeps(two_of_four)
    assert ReliableSamples(max_entropy=0.51).keeps(two_of_four)


def test_no_certain_sample_leaves_all_weights_zero() -> None:
    assert ReliableSamples().weights(step(torch.zeros(3, 4)), {}).tolist() == [0, 0, 0]


def test_a_limit_below_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="max_entropy must be positive, got -1"):
        ReliableSamples(max_entropy=-1)
