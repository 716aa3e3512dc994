"""What losses and weights of pixels hold in memory is bounded by the grid that learning sees."""

import pytest
import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks

from components.steps import first_memory, step
from trimtab.components.certainty_diversity import CertaintyDiversity
from trimtab.components.entropy import Entropy
from trimtab.components.opinion_entropy import OpinionEntropy
from trimtab.components.soft_likelihood_ratio import SoftLikelihoodRatio
from trimtab.core.component import Objective, Step
from trimtab.core.task import Segmentation

CLASSES, PIXELS = 6, 64
LOGITS = torch.randn(2, CLASSES, 48, 40, generator=torch.Generator().manual_seed(0))


def dense_step(logits: Tensor) -> Step:
    return Step(**{**vars(step(logits)), "task": Segmentation(pixels=PIXELS)})


@pytest.mark.parametrize(
    ("objective", "copies"),
    [(Entropy(), 2), (SoftLikelihoodRatio(), 6), (OpinionEntropy(), 6)],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_a_loss_keeps_a_few_copies_of_the_grid_for_its_gradient(
    objective: Objective, copies: int
) -> None:
    held: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        held[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    logits = LOGITS.clone().requires_grad_()
    with saved_tensors_hooks(note, lambda tensor: tensor):
        losses = objective.loss(dense_step(logits), {})
    own = sum(size for place, size in held.items() if place != logits.data_ptr())
    grid = len(LOGITS) * CLASSES * PIXELS * 4
    assert losses.shape[0] == 2
    assert losses[0].numel() <= PIXELS
    assert 0 < own <= copies * grid
    losses.sum().backward()
    assert logits.grad is not None
    assert int((logits.grad != 0).any(1).sum()) == losses.numel()  # the grid, and nothing else


def test_weights_are_of_the_grid() -> None:
    rule = CertaintyDiversity()
    weights = rule.weights(dense_step(LOGITS), first_memory(rule, CLASSES))
    assert weights.shape == dense_step(LOGITS).logits[:, 0].shape
    assert weights[0].numel() <= PIXELS
