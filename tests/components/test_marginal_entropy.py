"""Agreement of views."""

import torch

from components.steps import step
from trimtab.components.marginal_entropy import MarginalEntropy


def test_the_loss_is_the_entropy_of_the_mean_prediction() -> None:
    logits = torch.randn(6, 4)
    mean = logits.softmax(1).mean(0)
    expected = -(mean * mean.log()).sum()
    torch.testing.assert_close(MarginalEntropy().loss(step(logits), {}), expected.expand(6))


def test_views_that_disagree_cost_more_than_views_that_agree() -> None:
    agree, disagree = 9 * torch.eye(3)[[0, 0, 0]], 9 * torch.eye(3)
    rule = MarginalEntropy()
    assert rule.loss(step(agree), {})[0] < 0.1 < rule.loss(step(disagree), {})[0]


def test_extreme_logits_have_a_finite_loss_and_gradient() -> None:
    logits = torch.tensor([[1e5, -1e5], [1e5, -1e5]], requires_grad=True)
    loss = MarginalEntropy().loss(step(logits), {}).sum()
    (gradient,) = torch.autograd.grad(loss, logits)
    assert loss.isfinite()
    assert gradient.isfinite().all()
