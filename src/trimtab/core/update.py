"""The optimiser step: from gradients to new parameters, or to none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from trimtab.core import component as roles
from trimtab.core.finite import all_finite
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
        for left in reversed(range(attempt.moves)):
            grads = [tensor.grad for tensor in state.trained()] if left else []
            if not _move(attempt, rate * attempt.update_share):
                break
            state.counters.updates += left + 1 == attempt.moves
            for tensor, grad in zip(state.trained(), grads, strict=True) if left else ():
                tensor.grad = grad
    attempt.row_gradient = None
    state.forget_gradients()


def _move(attempt: Attempt, rate: float) -> bool:
    """One step of the optimiser to new tensors; the old ones stay where it overflows."""
    state = attempt.state
    assert state.sample_shape is not None  # a stream that learns has begun
    places = state.places()
    trained = [tensor for _, _, tensor in places]
    rules = attempt.playing(roles.ParameterRule)
    watching = [r for r in rules if type(r).see_gradients is not roles.ParameterRule.see_gradients]
    asked = Move(
        attempt.method.optimizer,
        trained,
        state.moments,
        state.sample_shape,
        rate,
        attempt.loss_scale,
        row_of(state.params),
        attempt.row_gradient,
    )
    if watching or any(tensor.grad is not None for tensor in trained):
        asked = asked.spread()  # some passes were merged and others not, or rules want to look
    _show_gradients(attempt, watching)
    moved = attempt.passes.move(asked)
    state.forget_gradients()
    if moved is None or not moved.finite:
        state.moments = state.moments if moved is None else {}  # what overflowed is not trusted
        state.counters.skipped_updates += 1
        return False
    if moved.row is not None and len(places) == len(state.params):
        state.params = Flat(dict(zip(state.params, moved.tensors, strict=True)), moved.row)
    else:
        for (tensors, name, _), tensor in zip(places, moved.tensors, strict=True):
            tensors[name] = tensor
    state.moments = moved.moments
    trust = attempt.trust
    for rule in rules:
        _apply(rule, attempt, trust if rule.pulls_to_source else 1.0)
    if any(rule.restarts_optimizer(state.memory[rule.name]) for rule in rules):
        state.moments = {}
    return True


def _show_gradients(attempt: Attempt, rules: list[roles.ParameterRule]) -> None:
    """Let rules look at gradients, unless these are not finite and lead to no update."""
    params, scale = attempt.state.params, attempt.loss_scale
    found = {name: p.grad for name, p in params.items() if p.grad is not None}
    if rules and not all_finite(found.values()):
        return
    if scale != 1:
        found = {name: gradient / scale for name, gradient in found.items()}
    for rule in rules:
        rule.see_gradients(params, found, attempt.state.memory[rule.name])


def _apply(rule: roles.ParameterRule, attempt: Attempt, share: float) -> None:
    """Let a rule edit the parameters, by a share of what it would."""
    state = attempt.state
    before = [param.clone() for param in state.params.values()] if share < 1 else []
    rule.after_update(state.params, attempt.source, state.memory[rule.name])
    if share < 1:
        torch._foreach_lerp_(list(state.params.values()), before, 1 - share)
