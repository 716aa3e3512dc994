"""A loss that forgives wrong labels."""

import pytest
import torch

from components.steps import step
from trimtab.components.robust_pseudo_label import RobustPseudoLabel

LOGITS = torch.tensor([[2.0, 0.0, -1.0], [0.0, 0.5, 0.4], [0.0, 0.0, 0.0]])


def test_the_loss_is_one_minus_a_power_of_the_predicted_probability() -> None:
    losses = RobustPseudoLabel(0.8).loss(step(LOGITS), {})
    expected = [(1 - max(row) ** 0.8) / 0.8 for row in LOGITS.softmax(1).tolist()]
    torch.testing.assert_close(losses, torch.tensor(expected))


def test_a_small_exponent_comes_near_the_cross_entropy() -> None:
    losses = RobustPseudoLabel(1e-4).loss(step(LOGITS.double()), {})
    cross_entropy = torch.nn.functional.cross_entropy(
        LOGITS.double(), LOGITS.argmax(1), reduction="none"
    )
    torch.testing.assert_close(losses, cross_entropy, atol=1e-3, rtol=0)


@pytest.mark.parametrize("exponent", [0.0, -0.5, 1.1])
def test_an_exponent_out_of_range_is_refused(exponent: float) -> None:
    with pytest.raises(ValueError, match=r"exponent must lie in \(0, 1\], got"):
        RobustPseudoLabel(exponent)
