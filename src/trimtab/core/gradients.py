"""Losses and gradients: how much each sample counts, what it is compared with, what it costs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from trimtab.core import component as roles
from trimtab.core.lesson import Lesson, summed
from trimtab.core.views import PartialViews, views_of

if TYPE_CHECKING:
    from trimtab.core.attempt import Attempt


@torch.no_grad()
def weights_of(attempt: Attempt, step: roles.Step) -> Tensor:
    """How much each sample counts, shape (batch,), or each pixel, (batch, height, width)."""
    rules, memory = attempt.playing(roles.Weighting), attempt.state.memory
    if not rules:
        return torch.ones_like(step.logits[:, 0])
    detached = replace(step, prediction=step.prediction.detach())
    factors = [rule.weights(detached, memory[rule.name]) for rule in rules]
    return math.prod(factors, start=torch.ones_like(step.logits[:, 0]))


def samples_that_count(weights: Tensor) -> Tensor:
    """Which samples have a weight, or a pixel with one: booleans of shape (batch,)."""
    kept = weights > 0
    return kept if kept.dim() == 1 else kept.flatten(1).any(1)


def losses_that_count(losses: Tensor, weights: Tensor) -> Tensor:
    """Losses of the samples or pixels that have a weight, shape (count,), without their graph."""
    losses = losses.detach()
    return losses if losses.dim() == 1 else losses[weights > 0]


@torch.no_grad()
def with_targets(
    attempt: Attempt, step: roles.Step, role: type[roles.Component] = roles.Component
) -> roles.Step:
    """The step with the targets of all objectives, or of those that play a role too."""
    asked = [
        objective
        for objective in attempt.playing(roles.Objective)
        if type(objective).targets is not roles.Objective.targets
        and objective.name not in step.targets
        and isinstance(objective, role)
    ]
    if not asked:
        return step
    detached, memory = replace(step, prediction=step.prediction.detach()), attempt.state.memory
    targets = {o.name: o.targets(detached, memory[o.name]) for o in asked}
    return replace(step, targets=step.targets | targets)


def parts_with_graph(
    attempt: Attempt, step: roles.Step, kept: Tensor, micro_batch: int
) -> Iterator[tuple[roles.Step, Tensor]]:
    """The kept samples of each micro-batch, ready for gradients, and their rows."""
    if micro_batch >= len(kept) and bool(kept.all()):
        yield from _whole(attempt, step, kept)
        return
    views = PartialViews(attempt, step.inputs, kept)
    for rows in torch.arange(len(kept), device=kept.device).split(micro_batch):
        used = rows[kept[rows]]
        if not len(used):
            continue
        part = replace(
            attempt.learner.with_graph(attempt, step, rows, used),
            views=views.of(used),
            targets={
                name: {key: value[used] for key, value in targets.items()}
                for name, targets in step.targets.items()
            },
            passed={},
        )
        attempt.state.counters.backward_samples += len(used) if part.logits.requires_grad else 0
        yield part, used


def _whole(attempt: Attempt, step: roles.Step, kept: Tensor) -> Iterator[tuple[roles.Step, Tensor]]:
    """The same where all samples are kept and go at once: nothing has to be picked out."""
    views = views_of(attempt, step.inputs)
    rows = torch.arange(len(kept), device=kept.device)
    if not step.logits.requires_grad:
        step = attempt.learner.with_graph(attempt, step, rows, rows)
    attempt.state.counters.backward_samples += len(kept) if step.logits.requires_grad else 0
    yield replace(step, views=views, passed={}), rows


def lesson_of(
    attempt: Attempt, part: roles.Step, weights: Tensor, samples: int, share: float
) -> Lesson:
    """What there is to learn from some samples.

    Args:
        weights: How much each sample or pixel counts.
        samples: How many of these the whole loss is a mean over.
        share: Of the penalties, which are added once for all micro-batches.
    """
    state, penalty = attempt.state, penalty_of(attempt)
    return Lesson(
        attempt.playing(roles.Objective),
        state.memory,
        part,
        weights,
        samples,
        penalty * share if isinstance(penalty, Tensor) else 0.0,
        attempt.loss_scale,
        state.trains_parameters_alone,
    )


def losses_of(attempt: Attempt, step: roles.Step) -> Tensor:
    """What each sample costs, shape (batch,), or each pixel, (batch, height, width)."""
    return summed(attempt.playing(roles.Objective), step, attempt.state.memory)


def penalty_of(attempt: Attempt) -> Tensor | float:
    """What the parameters themselves cost, a scalar."""
    state = attempt.state
    total: Tensor | float = 0.0
    for rule in attempt.playing(roles.Penalty):
        price = rule.penalty(state.params, attempt.source, state.memory[rule.name])
        total = total + (price * attempt.trust if rule.pulls_to_source else price)
    return total


@torch.no_grad()
def show_losses(attempt: Attempt, losses: Tensor) -> None:
    """Let the parameter rules see what the samples of the coming update cost."""
    for rule in attempt.playing(roles.ParameterRule):
        rule.observe(losses, attempt.state.memory[rule.name])
