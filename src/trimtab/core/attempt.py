"""One try at a step: a draft of the stream's state, and the ways to the network under it.

An attempt that fails, or that ends in something not finite, is thrown away, and the state that it
started from is still there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import torch
from torch import Tensor

from trimtab.augment.normalization import in_force
from trimtab.core import component as roles
from trimtab.core import layout, pace
from trimtab.core.backbone import Backbone, Tensors
from trimtab.core.blank import blank_like
from trimtab.core.finite import NotFiniteError, all_finite, is_finite, without_nonsense
from trimtab.core.flat import row_of
from trimtab.core.lesson import Lesson
from trimtab.core.memory_limit import MemoryLimit
from trimtab.core.norm import SOURCE, NormPolicy
from trimtab.core.passes import Alone, Passes
from trimtab.core.prediction import Prediction, SeparatePredictions, joined
from trimtab.core.state import StreamState
from trimtab.core.stride import change_between

if TYPE_CHECKING:
    from trimtab.core.learner import Learner
    from trimtab.core.method import Method

Role = TypeVar("Role", bound=roles.Component)

HALF_LOSS_SCALE = 1024.0
"""Factor on the loss of float16 networks, whose small gradients would vanish; a power of two."""

TRIED_SAMPLES = 8
"""On which it is tried how much an update has changed predictions."""


@dataclass
class Attempt:
    """What a learner works with.

    Args:
        source: Source values of the trained parameters, by their full name.
        at_once: Most samples to hold in memory for gradients at once, or most memory for them;
            None has no limit.
        origin: The state to start from; it stays as it is.
        first: The state that a reset returns to; None while the stream has not begun.
        learning: Whether this batch is there to learn from.
        follows_stream: Whether the batch is too small for statistics of its own.
        update_share: Factor on the learning rate, by how many samples there are to learn from.
        moves: How many times an update goes along its gradient: for batches it stands for.
        row_gradient: Gradients of all parameters one after the other, where they were added up so.
        uncorrected: The source model's logits of the batch, where a method only corrects these.
        independent: Logits before the first rule that a guard has to see runs for.
    """

    backbone: Backbone
    method: Method
    passes: Passes
    source: Tensors
    at_once: int | MemoryLimit | None
    origin: StreamState
    first: StreamState | None = None
    learning: bool = False
    follows_stream: bool = False
    update_share: float = 1.0
    moves: int = 1
    loss_scale: float = 1.0
    row_gradient: Tensor | None = None
    uncorrected: Tensor | None = None
    independent: Tensor | None = None
    micro_batch: int | None = field(init=False)
    state: StreamState = field(init=False)
    _drafted: dict[int, Tensor] = field(init=False)

    def __post_init__(self) -> None:
        limit, origin = self.at_once, self.origin
        self.micro_batch = limit if not isinstance(limit, MemoryLimit) else 1
        if isinstance(limit, MemoryLimit) and origin.sample_shape is not None and self.source:
            sample = blank_like(self.backbone, origin.form or origin.sample_shape)
            graphs = 1 + self.method.views
            self.micro_batch = limit.samples(self.backbone, self.source, sample, graphs)
        self._draft()

    def _draft(self) -> None:
        self.state = self.origin.draft()
        tensors = (t for memory in self.state.memory.values() for t in memory.values())
        self._drafted = {id(tensor): tensor for tensor in tensors}  # holding them keeps ids unique

    @property
    def learner(self) -> Learner:
        return self.method.learner

    def playing(self, role: type[Role]) -> list[Role]:
        """The method's components that play a role, in their order."""
        return self.method.playing(role)

    @property
    def first_rule_for_runs(self) -> roles.OutputRule | None:
        """The first of those output rules that a guard has to see runs for. With batch norms there
        are none: a batch's own statistics leave little of a bias that rules could make more of."""
        rules = [] if self.backbone.has_batch_norm else self.method.rules_for_runs
        return rules[0] if rules else None

    @property
    def trust(self) -> float:
        """Factor on every pull towards the source, 0 to 1."""
        rules = self.playing(roles.SourceTrust)
        return math.prod(rule.trust(self.state.memory[rule.name]) for rule in rules)

    # ---------------------------------------------------------------- one batch

    def take(self, inputs: Tensor) -> Tensor:
        """Logits of a batch, learning from it where it is time to; the state has moved on."""
        before = pace.passes(self.state.counters)
        paced, size = self.state.pace, self.state.window.size  # a reset on the way begins others
        self.take_turn(inputs)
        updates = self.state.counters.updates
        logits = self.soundly(inputs)
        if self.learning and self.state.counters.updates > updates:
            paced.judge(self._change_of_predictions(inputs))
        beyond = pace.passes(self.state.counters) - before - len(inputs)
        paced.pay(beyond, (size or len(inputs)) if self.learning else 0)
        return logits

    def take_turn(self, inputs: Tensor) -> None:
        """Take note that a batch has come, and decide whether to learn from it."""
        paced = self.state.pace
        paced.arrive(len(inputs))
        paced.see(inputs)
        windowed = self.state.window.size is not None  # which takes its turn when it is full
        self.learning = self.method.learns and (windowed or paced.turn(len(inputs)))

    @torch.no_grad()
    def _change_of_predictions(self, inputs: Tensor) -> float | None:
        """How much learning has changed predictions, tried on a few samples; None: not at all.

        Only a pace that decides by it is worth the passes.
        """
        before, after = self.origin.params, self.state.params
        if self.state.pace.stride is None:
            return None
        if all(torch.equal(after[name], tensor) for name, tensor in before.items()):
            return None  # updates that are taken back after a prediction
        few = inputs[:TRIED_SAMPLES]
        policy = replace(self.learner.further_norm(self, len(few)), keep_weight=0.0)
        both = [self.forward(few, params, policy).logits for params in (before, after)]
        return change_between(*both)

    def soundly(self, inputs: Tensor, *, foresee: bool = False) -> Tensor:
        """What the learner makes of a batch; the source's logits where that is not finite."""
        learner = self.learner
        try:
            with in_force(self.backbone.normalization):
                logits = (learner.foresee if foresee else learner.advance)(self, inputs)
            if all_finite(self._changed_memory()):
                return logits
        except NotFiniteError:
            pass
        counters, paced = self.state.counters, self.state.pace
        self.uncorrected = self.independent = None
        self._draft()
        self.state.counters, self.state.pace = counters, paced
        counters.skipped_updates += 1
        return self.by_the_source(inputs)

    def _changed_memory(self) -> list[Tensor]:
        """Memory that was replaced or written into since the draft was made."""
        tensors = (t for memory in self.state.memory.values() for t in memory.values())
        return [t for t in tensors if id(t) not in self._drafted or t._version]

    @torch.no_grad()
    def by_the_source(self, inputs: Tensor) -> Tensor:
        """The source model's logits; no class is favoured where even these are not finite."""
        logits = self.forward(inputs, {}, SOURCE, {}).logits
        return logits if is_finite(logits) else without_nonsense(logits)

    def reset(self) -> None:
        """Forget the stream: back to where it began."""
        assert self.first is not None  # only a stream that has begun is reset on its way
        counters, number = self.state.counters, self.state.learned_through
        self.state = self.first.clone()
        self.state.counters, self.state.learned_through = counters, number
        counters.resets += 1

    def back_to_source(self) -> None:
        """Source parameters and no moments, while all else goes on."""
        params = {name: full(value).detach() for name, value in self.source.items()}
        self.state.params = {name: p.clone().requires_grad_() for name, p in params.items()}
        self.state.moments = {}

    # ---------------------------------------------------------------- the network

    def forward(
        self,
        inputs: Tensor,
        params: Tensors | None,
        policy: NormPolicy,
        statistics: Tensors | None = None,
    ) -> Prediction:
        """The only way to the network, so the only place that counts.

        Args:
            params: In place of the stream's; those that are missing are the source's.
            statistics: In place of the stream's. What the policy keeps replaces their tensors,
                unless the logits are not finite.
        """
        self.state.counters.forward_samples += len(inputs)
        params = self.state.params if params is None else params
        # Trained parameters of half-precision models are kept in float32: small steps would be
        # lost in their rounding.
        dtype = self.backbone.dtype
        row = row_of(params)
        if row is not None and row.dtype == dtype:
            cast = params.copy()
        else:
            cast = {name: p if p.dtype == dtype else p.to(dtype) for name, p in params.items()}
        stored = self.state.statistics if statistics is None else statistics
        moved = stored
        if policy.keep_weight:
            moved = {name: s.clone() for name, s in stored.items()}
        logits, features = self.passes.forward(
            inputs, cast, moved, policy, grad=torch.is_grad_enabled()
        )
        if policy.keep_weight and is_finite(logits):
            if not all_finite(moved.values()):
                raise NotFiniteError("statistics of batch norms")
            stored.update(moved)
        self.loss_scale = HALF_LOSS_SCALE if logits.dtype == torch.float16 else 1.0
        return Prediction(full(logits), None if features is None else full(features))

    def forward_singly(
        self, inputs: Tensor, params: Tensors | None, policy: NormPolicy
    ) -> Prediction:
        """A pass over all samples, one by one where that costs no more than all at once."""
        alone = isinstance(self.passes, Alone) and self.backbone.prefers_single_samples
        if not alone or not layout.suits_single_samples(inputs) or len(inputs) == 1:
            return self.forward(inputs, params, policy)
        parts = [self.forward(one, params, policy) for one in inputs.split(1)]
        return SeparatePredictions.of(parts)

    def forward_in_parts(self, inputs: Tensor, policy: NormPolicy) -> Prediction:
        """A pass over all samples under the stream's parameters, a micro-batch at a time."""
        parts = inputs.split(self.micro_batch or len(inputs))
        predictions = [self.forward_singly(part, None, policy) for part in parts]
        return predictions[0] if len(predictions) == 1 else joined(predictions)

    def backward(self, loss: Tensor) -> None:
        """Add up a loss's gradients, times ``loss_scale``."""
        self.passes.backward(loss * self.loss_scale)

    def descend(self, lesson: Lesson) -> Tensor | None:
        """Add up the gradients of a lesson's loss; the losses of its samples if it is finite."""
        descent = self.passes.descend(lesson)
        if descent is None:
            return None
        if descent.row is not None:
            earlier = self.row_gradient
            self.row_gradient = descent.row if earlier is None else earlier + descent.row
        return descent.losses

    def is_micro_batched(self, inputs: Tensor) -> bool:
        """Whether gradients of all samples do not fit into memory at once."""
        return self.micro_batch is not None and len(inputs) > self.micro_batch

    # ---------------------------------------------------------------- what components look at

    def step(self, inputs: Tensor, prediction: Prediction) -> roles.Step:
        """These samples and what was predicted for them."""
        return roles.Step(
            inputs=inputs,
            prediction=prediction,
            forward=partial(self.learner.further_pass, self),
            generator=self.state.generator,
            recent=self.state.window.with_recent(
                self.backbone.task.remembered(prediction.detach())
            ),
            policy=self.learner.further_norm(self, len(inputs)),
            task=self.backbone.task,
        )


def full(tensor: Tensor) -> Tensor:
    """At least float32, whatever the network computes in."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))
