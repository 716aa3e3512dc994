"""From gradients to new parameters, or to none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from trimtab.core import component as roles
from trimtab.core.finite import all_finite

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
    grads = [tensor.grad for tensor in state.trained() if tensor.grad is not None]
    if not finite or not all_finite(grads):
        state.counters.skipped_updates += 1
    elif grads:
        for grad in grads if attempt.loss_scale != 1 else []:
            grad.div_(attempt.loss_scale)
        _move(attempt, rate * attempt.update_share)
    state.forget_gradients()


def _move(attempt: Attempt, rate: float) -> None:
    """One step of the optimiser on new tensors; the old ones come back where it overflows."""
    state = attempt.state
    before = state.places()
    for tensors, name, tensor in before:
        tensors[name] = _ahead(tensor)
    assert state.sample_shape is not None  # a stream that learns has begun
    choice = attempt.method.optimizer
    state.moments = choice.step(state.trained(), state.moments, state.sample_shape, rate)
    if all_finite(state.trained()):
        for rule in attempt.playing(roles.ParameterRule):
            rule.after_update(state.params, attempt.source, state.memory[rule.name])
        state.counters.updates += 1
        return
    for tensors, name, tensor in before:
        tensors[name] = tensor
    state.moments = {}  # momentum that overflowed is not to be trusted
    state.counters.skipped_updates += 1


def _ahead(tensor: Tensor) -> Tensor:
    """A copy that takes over the gradient."""
    twin = tensor.clone().requires_grad_()
    twin.grad, tensor.grad = tensor.grad, None
    return twin
