"""Losses of many streams as one: a loss that is each sample's own does not care whose samples are
beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from trimtab.core.component import Step
from trimtab.core.lesson import Lesson
from trimtab.core.prediction import Prediction


def descend(lessons: Sequence[Lesson]) -> list[Tensor | None]:
    """Losses of each lesson's samples, detached; None where these are not finite.

    Gradients have come to the predictions of all others: to their ``grad``, or further where they
    were made of something else.
    """
    given = [list(lesson.predictions()) for lesson in lessons]
    sizes = [len(own[0]) for own in given]
    leaves = [torch.cat([own[place].detach() for own in given]) for place in range(len(given[0]))]
    with torch.enable_grad():
        leaves = [leaf.requires_grad_() for leaf in leaves]
        losses = _losses(lessons, leaves)
        parts = torch.cat([lesson.weights for lesson in lessons]) * losses
        shares = [lesson.scale / lesson.samples for lesson in lessons]
        grads = torch.autograd.grad([parts], leaves, [_of_each(shares, sizes, parts)])
    finite = _finite(parts.detach(), sizes)
    for place, grad in enumerate(grads):
        _hand_back([own[place] for own in given], grad.split(sizes), finite)
    return [
        own if sound else None
        for own, sound in zip(losses.detach().split(sizes), finite, strict=True)
    ]


def _losses(lessons: Sequence[Lesson], leaves: list[Tensor]) -> Tensor:
    """What each sample of all lessons costs."""
    first = lessons[0]
    logits, *views = leaves
    own = [id(first.step.views[name]) for name in first.viewed]
    order = list(dict.fromkeys(own))
    shown = {name: views[order.index(view)] for name, view in zip(first.viewed, own, strict=True)}
    step = replace(
        first.step,
        inputs=logits.new_empty(0),  # a loss that is each sample's own has no use for these
        prediction=Prediction(logits, None),
        forward=_refuse,
        views=shown,
        passed={id(view): Prediction(view, None) for view in views},
        targets=_targets([lesson.step for lesson in lessons]),
    )
    whole = replace(first, step=step, memory={o.name: {} for o in first.objectives})
    return whole.losses()


def _targets(steps: Sequence[Step]) -> dict[str, dict[str, Tensor]]:
    return {
        name: {key: torch.cat([step.targets[name][key] for step in steps]) for key in tensors}
        for name, tensors in steps[0].targets.items()
    }


def _refuse(*_: object, **__: object) -> Prediction:
    raise ValueError("a loss that is each sample's own makes no passes; set rowwise to False")


def _of_each(numbers: list[float], sizes: list[int], like: Tensor) -> Tensor:
    """A lesson's number for each of its samples."""
    if len(set(numbers)) == 1:
        return torch.full_like(like, numbers[0])
    each = torch.tensor(numbers, dtype=like.dtype, device=like.device)
    each = each.repeat_interleave(torch.tensor(sizes, device=like.device))
    return each.view(-1, *(1,) * (like.dim() - 1)).expand_as(like)


def _finite(parts: Tensor, sizes: list[int]) -> list[bool]:
    """Whether each lesson's loss, the sum of its parts, is finite."""
    if parts.dim() > 1:
        parts = parts.flatten(1).sum(1)
    if sum(sizes) > len(sizes):
        owners = torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes)).to(parts.device)
        parts = parts.new_zeros(len(sizes)).index_add_(0, owners, parts)
    finite: list[bool] = parts.isfinite().tolist()
    return finite


def _hand_back(tensors: list[Tensor], grads: Sequence[Tensor], finite: list[bool]) -> None:
    """Give gradients to predictions of the streams whose loss is finite."""
    sound = [
        (tensor, grad)
        for tensor, grad, keep in zip(tensors, grads, finite, strict=True)
        if keep and tensor.requires_grad
    ]
    for tensor, grad in sound:
        if tensor.is_leaf:
            tensor.grad = grad if tensor.grad is None else tensor.grad + grad
    made = [(tensor, grad) for tensor, grad in sound if not tensor.is_leaf]
    if made:
        torch.autograd.backward([t for t, _ in made], [g for _, g in made])
