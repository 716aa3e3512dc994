"""The optimiser step: from gradients to new parameters, or to none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from trimtab.core import component as roles
from trimtab.core.moves import Move

if TYPE_CHECKING:
    from trimtab.core.attempt import Attempt


@torch.no_grad()
def update(attempt: Attempt, finite: bool = True, *, rate: float = 1.0) -> None:
    """Step along the gradients and apply the parameter rules, or leave all as it was.

    Args:
        finite: Whether the loss was.
        rate: Factor on the learning rate.
    """
    state = attempt.state
    if not finite:
        state.counters.skipped_updates += 1
    elif any(tensor.grad is not None for tensor in state.trained()):
        for number in range(state.pace.moves):
            grads = [tensor.grad for tensor in state.trained()]
            if not _move(attempt, rate * attempt.update_share):
                break
            state.counters.updates += not number
            for tensor, grad in zip(state.trained(), grads, strict=True):
                tensor.grad = grad
    state.forget_gradients()


def _move(attempt: Attempt, rate: float) -> bool:
    """One step of the optimiser to new tensors; the old ones stay where it overflows."""
    state = attempt.state
    assert state.sample_shape is not None  # a stream that learns has begun
    places = state.places()
    trained = [tensor for _, _, tensor in places]
    asked = (attempt.method.optimizer, trained, state.moments, state.sample_shape)
    moved = attempt.passes.move(Move(*asked, rate, attempt.loss_scale))
    state.forget_gradients()
    if moved is None or not moved.finite:
        state.moments = state.moments if moved is None else {}  # what overflowed is not trusted
        state.counters.skipped_updates += 1
        return False
    for (tensors, name, _), tensor in zip(places, moved.tensors, strict=True):
        tensors[name] = tensor
    state.moments = moved.moments
    for rule in attempt.playing(roles.ParameterRule):
        rule.after_update(state.params, attempt.source, state.memory[rule.name])
    return True
