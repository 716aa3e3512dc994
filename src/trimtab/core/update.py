"""The optimiser step: from gradients to new parameters, or to none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from trimtab.core import component as roles
from trimtab.core.flat import Flat, row_of
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
    elif attempt.row_gradient is not None or any(t.grad is not None for t in state.trained()):
        _move(attempt, rate * attempt.update_share)
    attempt.row_gradient = None
    state.forget_gradients()


def _move(attempt: Attempt, rate: float) -> None:
    """One step of the optimiser to new tensors; the old ones stay where it overflows."""
    state = attempt.state
    assert state.sample_shape is not None  # a stream that learns has begun
    places = state.places()
    trained = [tensor for _, _, tensor in places]
    choice, rows = attempt.method.optimizer, (row_of(state.params), attempt.row_gradient)
    asked = Move(
        choice, trained, state.moments, state.sample_shape, rate, attempt.loss_scale, *rows
    )
    if any(tensor.grad is not None for tensor in trained):
        asked = asked.spread()  # some passes were merged, others were not
    moved = attempt.passes.move(asked)
    if moved is None or not moved.finite:
        state.moments = state.moments if moved is None else {}  # what overflowed is not trusted
        state.counters.skipped_updates += 1
        return
    if moved.row is not None and len(places) == len(state.params):
        state.params = Flat(dict(zip(state.params, moved.tensors, strict=True)), moved.row)
    else:
        for (tensors, name, _), tensor in zip(places, moved.tensors, strict=True):
            tensors[name] = tensor
    state.moments = moved.moments
    for rule in attempt.playing(roles.ParameterRule):
        rule.after_update(state.params, attempt.source, state.memory[rule.name])
    state.counters.updates += 1
