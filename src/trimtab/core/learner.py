"""The adaptation step: the loop that most methods share, and where others differ."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor

from trimtab.core import component as roles
from trimtab.core import gradients, small_batches
from trimtab.core.attempt import Attempt
from trimtab.core.backbone import Tensors
from trimtab.core.finite import NotFiniteError, is_finite
from trimtab.core.norm import BATCH, SOURCE, NormPolicy, tracking
from trimtab.core.prediction import Prediction
from trimtab.core.update import update

if TYPE_CHECKING:
    from trimtab.core.method import Method


@dataclass(frozen=True)
class Learner:
    """Predict, correct, weigh, take views, add up gradients, move.

    A method with a loop of its own has a learner that replaces as little of this one as it can.
    Settings are frozen; all that changes is in ``attempt.state``.
    """

    keeps_statistics: ClassVar[bool] = True
    """Whether stored statistics stay the source's where the method's norms are."""

    # ---------------------------------------------------------------- beginning

    def check(self, method: Method) -> None:
        """Refuse a method that this learner cannot follow, with a ValueError."""
        return

    def own_memory(self, start: roles.Start) -> dict[str, Tensors]:
        """Memory beside that of the components, by names that no component has."""
        return {}

    def warm_up(self, attempt: Attempt) -> None:
        """What a stream does before its first batch; a reset comes back to after it."""
        return

    # ---------------------------------------------------------------- predicting

    def advance(self, attempt: Attempt, inputs: Tensor) -> Tensor:
        """Logits for the caller, shape (batch, classes, ...); the state has moved on.

        Raises NotFiniteError rather than to return or remember what is not finite.
        """
        windowed = attempt.state.window.size is not None
        at_once = attempt.learning and not windowed and not attempt.is_micro_batched(inputs)
        with torch.set_grad_enabled(at_once):
            prediction = self.predict(attempt, inputs)
        if not is_finite(prediction.logits):
            raise NotFiniteError("logits")
        step = self.step(attempt, inputs, prediction)
        step = gradients.with_targets(attempt, step, roles.OutputRule)
        logits = self.correct(attempt, step)
        if windowed:
            attempt.state.window.see(step.recent)
        if attempt.learning:
            self.learn_or_wait(attempt, step)
        return logits

    def foresee(self, attempt: Attempt, inputs: Tensor) -> Tensor:
        """The logits that ``advance`` would return, learning nothing."""
        attempt.learning = False
        return self.advance(attempt, inputs)

    def predict(self, attempt: Attempt, inputs: Tensor) -> Prediction:
        """The first pass over a batch, under the caller's gradient mode."""
        at_once = min(len(inputs), attempt.micro_batch or len(inputs))
        small_batches.take_note(attempt, len(inputs), at_once)
        policy = self.first_norm(attempt, at_once)
        prediction = attempt.forward_in_parts(inputs, policy)
        if policy == SOURCE and attempt.method.only_corrects and self.keeps_statistics:
            attempt.uncorrected = prediction.logits.detach()
        if attempt.follows_stream:
            attempt.state.followed_samples += len(inputs)
        return prediction

    @torch.no_grad()
    def correct(self, attempt: Attempt, step: roles.Step) -> Tensor:
        """The logits after the output rules."""
        step = replace(step, prediction=step.prediction.detach())
        logits, first = step.prediction.logits, attempt.first_rule_for_runs
        for rule in attempt.playing(roles.OutputRule):
            if rule is first:
                attempt.independent = logits
            logits = rule.correct(logits, step, attempt.state.memory[rule.name])
        if logits is not step.prediction.logits and not is_finite(logits):
            raise NotFiniteError("corrected logits")
        return logits

    def step(self, attempt: Attempt, inputs: Tensor, prediction: Prediction) -> roles.Step:
        """What components see of samples that were just predicted."""
        return attempt.step(inputs, prediction)

    # ---------------------------------------------------------------- norms and further passes

    def first_norm(self, attempt: Attempt, samples: int) -> NormPolicy:
        """The policy of a first pass over ``samples`` samples.

        A window of single samples has no batch to take statistics from, nor has a small batch, so
        batch norms follow the stream instead, starting from the source's statistics.
        """
        policy, state = attempt.method.norm, attempt.state
        if attempt.follows_stream:
            return small_batches.following(attempt, samples)
        if state.window.size is not None and policy == BATCH:
            policy = tracking(state.window.size, samples)
        if attempt.backbone.has_batch_norm and state.memory:  # none before the stream begins
            for rule in attempt.playing(roles.NormRule):
                policy = rule.norm(policy, samples, state.memory[rule.name])
        return policy

    def further_norm(self, attempt: Attempt, samples: int) -> NormPolicy:
        """The policy of a further pass over ``samples`` samples: statistics do not move twice."""
        windowed = attempt.state.window.size is not None and attempt.method.norm == BATCH
        if windowed or attempt.follows_stream:
            return SOURCE
        return replace(self.first_norm(attempt, samples), keep_weight=0.0)

    def further_pass(
        self,
        attempt: Attempt,
        inputs: Tensor,
        params: Tensors | None = None,
        policy: NormPolicy | None = None,
    ) -> Prediction:
        """A further pass for a component; with gradients it is part of the backward pass too."""
        if torch.is_grad_enabled():
            attempt.state.counters.backward_samples += len(inputs)
        if policy is None:
            policy = self.further_norm(attempt, len(inputs))
        return attempt.forward_singly(inputs, params, replace(policy, keep_weight=0.0))

    # ---------------------------------------------------------------- learning

    def learn_or_wait(self, attempt: Attempt, step: roles.Step) -> None:
        """Learn from a batch, or from what is recalled, or from a window once it is full."""
        window = attempt.state.window
        if attempt.playing(roles.Recall):
            self.learn_from_recalled(attempt, step)
        elif window.size is None:
            self.learn(attempt, step, attempt.micro_batch or len(step.inputs))
        else:
            window.collect(step.inputs, step.task.remembered(step.prediction))
            if not window.is_full:
                return
            micro_batch = attempt.micro_batch or window.largest
            inputs, prediction = window.release()
            if attempt.state.pace.turn(len(inputs)):
                self.learn_again(attempt, inputs, prediction, micro_batch)
        self.reset_if_due(attempt)

    def reset_if_due(self, attempt: Attempt) -> None:
        """Begin again where a rule says so."""
        rules, memory = attempt.playing(roles.ResetRule), attempt.state.memory
        if any(rule.is_due(memory[rule.name]) for rule in rules):
            attempt.reset()

    def learn_from_recalled(self, attempt: Attempt, step: roles.Step) -> None:
        """An update each time that components which store samples give some."""
        detached = replace(step, prediction=step.prediction.detach())
        for rule in attempt.playing(roles.Recall):
            for inputs in rule.recall(detached, attempt.state.memory[rule.name]):
                self.learn_again(attempt, inputs, None, attempt.micro_batch or len(inputs))

    def learn_again(
        self, attempt: Attempt, inputs: Tensor, prediction: Prediction | None, micro_batch: int
    ) -> None:
        """One update from samples that came earlier, and what was predicted then, if known."""
        if prediction is None:
            with torch.set_grad_enabled(not attempt.is_micro_batched(inputs)):
                policy = self.further_norm(attempt, len(inputs))
                prediction = attempt.forward(inputs, None, policy)
        self.learn(attempt, self.step(attempt, inputs, prediction), micro_batch)

    def learn(self, attempt: Attempt, step: roles.Step, micro_batch: int) -> None:
        """One update from these samples."""
        weights = gradients.weights_of(attempt, step)
        if not bool((weights > 0).any()):
            self.learn_nothing(attempt)
            return
        step = gradients.with_targets(attempt, step)
        attempt.moves = attempt.state.pace.moves(step.logits.detach())
        with torch.enable_grad():
            finite = self.add_up_gradients(attempt, step, weights, micro_batch)
        update(attempt, finite)

    def learn_nothing(self, attempt: Attempt) -> None:
        """Every sample is left out: nothing moves."""
        return

    def add_up_gradients(
        self, attempt: Attempt, step: roles.Step, weights: Tensor, micro_batch: int
    ) -> bool:
        """Gradients of the whole loss, a micro-batch at a time; False once it is not finite."""
        kept = gradients.samples_that_count(weights)
        observed = []
        samples, count = len(kept), int(kept.sum())
        for part, used in gradients.parts_with_graph(attempt, step, kept, micro_batch):
            own = weights if len(used) == samples else weights[used]
            lesson = gradients.lesson_of(attempt, part, own, weights.numel(), len(used) / count)
            losses = attempt.descend(lesson)
            if losses is None:
                return False
            observed.append(gradients.losses_that_count(losses, own))
        gradients.show_losses(attempt, observed[0] if len(observed) == 1 else torch.cat(observed))
        return True

    def with_graph(
        self, attempt: Attempt, step: roles.Step, rows: Tensor, used: Tensor
    ) -> roles.Step:
        """The ``used`` samples with a prediction that gradients can flow through.

        Where samples share batch statistics, all ``rows`` of the micro-batch go through again.
        """
        if step.logits.requires_grad:
            return replace(step, inputs=step.inputs[used], prediction=step.prediction.rows(used))
        policy = self.further_norm(attempt, len(rows))
        together = policy.couples_samples and attempt.backbone.has_batch_norm
        prediction = attempt.forward(step.inputs[rows if together else used], None, policy)
        if together:
            prediction = prediction.rows(torch.isin(rows, used))
        return replace(step, inputs=step.inputs[used], prediction=prediction)
