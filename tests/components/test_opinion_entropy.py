"""Entropy of opinions that may stay undecided."""

import math

import torch
from torch import Tensor

import trimtab
from components.steps import step
from reference import nets
from trimtab.components.opinion_entropy import OpinionEntropy
from trimtab.functional import entropy


def opinion_entropy_by_hand(logits: list[float]) -> float:
    """Evidence, beliefs and uncertainty, one number at a time."""
    evidence = [math.exp(z) for z in logits]
    strength = sum(e + 1 for e in evidence)
    masses = [e / strength for e in evidence] + [len(logits) / strength]
    assert math.isclose(sum(masses), 1)
    return -sum(mass * math.log(mass) for mass in masses)


def loss_of(logits: Tensor) -> Tensor:
    return OpinionEntropy().loss(step(logits), {})


def drawn(samples: int = 9, classes: int = 5) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return 3 * torch.randn(samples, classes, generator=generator, dtype=torch.float64)


def test_it_is_the_entropy_of_beliefs_and_uncertainty() -> None:
    logits = drawn()
    expected = torch.tensor([opinion_entropy_by_hand(row) for row in logits.tolist()])
    torch.testing.assert_close(loss_of(logits), expected.double())


def test_gradients_turn_logits_and_do_not_stretch_them() -> None:
    logits = drawn().requires_grad_()
    loss_of(logits).sum().backward()
    assert logits.grad is not None
    assert logits.grad.abs().max() > 0.01
    stretch = (logits.grad * logits.detach()).sum(1)
    torch.testing.assert_close(stretch, torch.zeros_like(stretch))


def test_gradients_are_those_of_the_bare_entropy_without_their_part_along_the_logits() -> None:
    logits, bare = drawn().requires_grad_(), drawn().requires_grad_()
    loss_of(logits).sum().backward()
    undecided = torch.full((len(bare), 1), math.log(5), dtype=torch.float64)
    entropy(torch.cat([bare, undecided], 1)).sum().backward()
    assert bare.grad is not None
    unit = bare.detach() / bare.detach().norm(dim=1, keepdim=True)
    expected = bare.grad - (bare.grad * unit).sum(1, keepdim=True) * unit
    torch.testing.assert_close(logits.grad, expected)


def test_logits_of_zero_and_huge_ones_stay_finite() -> None:
    logits = torch.tensor([[0.0, 0.0, 0.0], [1e4, -1e4, 0.0]], requires_grad=True)
    loss = loss_of(logits)
    torch.testing.assert_close(loss[0].item(), math.log(2) + 0.5 * math.log(3))
    loss.sum().backward()
    assert loss.isfinite().all()
    assert logits.grad is not None
    assert logits.grad.isfinite().all()


def test_come_with_a_selection_leaves_samples_out(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "come + novel_samples")
    for batch in images.split(16):
        assert adapter(batch).isfinite().all()
    assert 0 < adapter.counters.backward_samples < len(images)
