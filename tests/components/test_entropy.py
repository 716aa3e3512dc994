"""Entropy minimisation."""

import math

import torch

from components.steps import step
from trimtab.components.entropy import Entropy


def test_equal_logits_have_the_entropy_of_a_fair_draw() -> None:
    loss = Entropy().loss(step(torch.zeros(3, 5)), {})
    torch.testing.assert_close(loss, torch.full((3,), math.log(5)))
