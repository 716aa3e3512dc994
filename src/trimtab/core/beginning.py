"""How a stream begins: from the source, and then with samples of one shape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from trimtab.augment.normalization import in_force
from trimtab.core import component as roles
from trimtab.core import reach
from trimtab.core.attempt import Attempt, full
from trimtab.core.backbone import Backbone, Tensors
from trimtab.core.blank import Sample, blank_like
from trimtab.core.pace import Pace
from trimtab.core.state import StreamState
from trimtab.core.structured import Form, Structured
from trimtab.core.window import Window

if TYPE_CHECKING:
    from trimtab.core.prediction import Prediction


FIRST_VALUES: WeakKeyDictionary[Backbone, Tensors] = WeakKeyDictionary()
"""Source values that streams begin with, one tensor of each for all streams of a backbone."""


class Beginnings:
    """Beginnings of a method's streams on a backbone.

    To begin may be dear and is the same each time, so the latest beginning is kept.

    Args:
        attempt: Makes an attempt from a state.
        guard: What a guard remembers at the beginning; nothing where there is none.
    """

    def __init__(
        self,
        backbone: Backbone,
        source: Tensors,
        attempt: Callable[[StreamState], Attempt],
        latest: StreamState | None = None,
        guard: Tensors | None = None,
    ) -> None:
        self.backbone = backbone
        self.source = source
        self.latest = latest
        self.guard = guard or {}
        self._attempt = attempt

    def at_the_source(self, seed: int, window: Window, pace: Pace) -> StreamState:
        """The state of a stream that has seen nothing, not even the shape of its samples."""
        return StreamState(
            seed=seed,
            params=trainable_copies(self.source),
            statistics=dict(self.backbone.statistics),
            generator=torch.Generator().manual_seed(seed),
            window=Window(window.size),
            pace=pace.afresh(),
            guard=dict(self.guard),
        )

    def like(self, state: StreamState, sample: Sample, seed: int) -> StreamState:
        """How a stream of such samples and seed begins, with the window and pace of ``state``."""
        known = self.latest
        wanted = (*_shape_and_form(sample), seed)
        if known is None or (known.sample_shape, known.form, known.seed) != wanted:
            source = self.at_the_source(seed, state.window, state.pace)
            known = begin(self._attempt(source), sample)
            known.forget_gradients()
            known.params = self._kept(known.params, source.params)
            self.latest = known
        return known

    def _kept(self, params: Tensors, source: Tensors) -> Tensors:
        """Parameters to begin with; those of the source take no memory of their own.

        All streams have the same ones: who begins anew takes copies, so none is ever trained.
        """
        known = FIRST_VALUES.setdefault(self.backbone, {})
        for name in params.keys() - known.keys():
            known[name] = full(self.source[name]).detach().requires_grad_()
        return {name: known[name] if p is source[name] else p for name, p in params.items()}

    def begun(self, state: StreamState, sample: Sample) -> StreamState:
        """``state``, begun where it was not yet."""
        if state.sample_shape is not None:  # later samples may be of other sizes
            sample = state.form or state.sample_shape
        first = self.like(state, sample, state.seed)
        if state.sample_shape is not None:
            return state
        begun = replace(first.draft(), params=trainable_copies(first.params))
        begun.counters = state.counters.plus(first.counters)
        begun.learned_through = state.learned_through
        begun.guard, begun.blessed = state.guard, state.blessed  # rolled back, it is not the first
        return begun

    def again(self, state: StreamState) -> StreamState:
        """The beginning of a stream that has come to ``state``; its counters and numbers go on."""
        if state.sample_shape is None:
            fresh = self.at_the_source(state.seed, state.window, state.pace)
        else:
            fresh = self.like(state, state.form or state.sample_shape, state.seed).clone()
        fresh.counters = replace(state.counters, resets=state.counters.resets + 1)
        fresh.learned_through = state.learned_through
        return fresh


def trainable_copies(params: Tensors) -> Tensors:
    """Copies of parameters, at least float32, that gradients can flow to."""
    return {name: full(p).detach().clone().requires_grad_() for name, p in params.items()}


def sample_of(inputs: Tensor) -> Sample:
    """What a sample of this batch looks like."""
    return inputs.form if isinstance(inputs, Structured) else tuple(inputs.shape[1:])


def _shape_and_form(sample: Sample) -> tuple[tuple[int, ...], Form | None]:
    return (sample.shapes[0], sample) if isinstance(sample, Form) else (sample, None)


def begin(attempt: Attempt, sample: Sample) -> StreamState:
    """The state of a stream whose samples look like this, before the first one.

    Its counters say what beginning has cost.
    """
    sample_shape, form = _shape_and_form(sample)
    blank = blank_like(attempt.backbone, sample)
    found = _probe(attempt.backbone, blank)
    reach.check(attempt.backbone, attempt.source, blank)
    start = roles.Start(
        backbone=attempt.backbone,
        source=attempt.source,
        num_classes=found.logits.shape[1],
        num_features=None if found.features is None else found.features.shape[1],
        sample_shape=sample_shape,
        device=attempt.backbone.device,
        forward=partial(attempt.learner.further_pass, attempt),
        backward=attempt.passes.backward,
        generator=attempt.state.generator,
    )
    with in_force(attempt.backbone.normalization):
        memory = {c.name: c.new_memory(start) for c in attempt.method.components}
        attempt.state.memory = memory | attempt.learner.own_memory(start)
        attempt.state.sample_shape, attempt.state.form = sample_shape, form
        attempt.learner.warm_up(attempt)
    return attempt.state


def _probe(backbone: Backbone, blank: Tensor) -> Prediction:
    sample, shape = sample_of(blank), tuple(blank.shape[1:])
    if sample in backbone.probed:
        return backbone.probed[sample]
    try:
        return backbone.probed.setdefault(sample, backbone.probe(blank))
    except (RuntimeError, IndexError, TypeError) as error:
        raise ValueError(f"the model takes no samples of shape {shape}: {error}") from error
