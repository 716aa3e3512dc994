"""The loop along one stream: predict, learn, correct; and how to stop and go on."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import Tensor

from trimtab.core import component as roles
from trimtab.core import inputs as input_rules
from trimtab.core import layout
from trimtab.core import state as state_files
from trimtab.core.backbone import Backbone, Prediction, SeparatePredictions, Tensors, joined
from trimtab.core.counters import Counters
from trimtab.core.norm import BATCH, SOURCE, NormPolicy, tracking
from trimtab.core.pace import Pace, passes
from trimtab.core.window import Window

if TYPE_CHECKING:
    from trimtab.core.method import Method

Role = TypeVar("Role", bound=roles.Component)

HALF_LOSS_SCALE = 1024.0
"""Factor on the loss of float16 networks, whose small gradients would vanish; a power of two."""


class Adapter:
    """Predicts the batches of one stream and learns from them as they come.

    Adapters that share a backbone never influence each other. Everything that changes lives
    here: ``params``, ``statistics``, ``memory``, ``optimizer``, ``generator``, ``window``.

    Args:
        seed: Decides all that is random.
        window: Collect this many samples for each update, whatever batches they come in, and
            take output rules' class priors over as many recent predictions. None learns from
            every batch as it comes.
        micro_batch: Most samples to hold in memory for gradients at once. None takes whole
            batches; with a window, batches of the size they come in.
        adapt_every: Learn on every so many batches (windows, where there is one); those between
            are predicted without gradients, and corrected all the same.
        budget: Most passes a sample on average, in multiples of a plain forward: learn on as
            many batches as it allows. A pass backward counts as two forward.
    """

    def __init__(
        self,
        backbone: Backbone,
        method: Method,
        *,
        seed: int = 0,
        window: int | None = None,
        micro_batch: int | None = None,
        adapt_every: int = 1,
        budget: float | None = None,
    ) -> None:
        if micro_batch is not None and micro_batch < 1:
            raise ValueError(f"micro_batch must be at least 1 sample, got {micro_batch}")
        self.backbone = backbone
        self.method = method
        self.seed = seed
        self.micro_batch = micro_batch
        self.counters = Counters()
        self.learns = bool(method.playing(roles.Objective))
        self.source = method.source_params(backbone) if self.learns else {}
        self.sample_shape: tuple[int, ...] | None = None
        self.window = Window(window)
        self.pace = Pace(adapt_every, budget)
        self.statistics: Tensors = {}
        self.memory: dict[str, Tensors] = {}
        self.optimizer: torch.optim.Optimizer | None = None
        self._loss_scale = 1.0
        self._learning = self.learns
        with torch.inference_mode(False):
            self._rewind()

    # ---------------------------------------------------------------- predicting

    def __call__(self, inputs: Tensor) -> Tensor:
        """Logits of a batch, shape (batch, classes); learn from it where the method learns."""
        with torch.inference_mode(False):
            inputs = self._admit(inputs)
            self.counters.samples += len(inputs)
            return torch.cat([self._take(part) for part in self._parts(inputs)])

    @torch.inference_mode(False)
    @torch.no_grad()
    def predict(self, inputs: Tensor) -> Tensor:
        """The logits that a call would return now, learning nothing and changing nothing."""
        counters = replace(self.counters)
        inputs = self._admit(inputs)
        policy = replace(self._norm_for(len(inputs)), keep_weight=0.0)
        prediction = self._forward_in_parts(inputs, policy)
        generator = torch.Generator()
        generator.set_state(self.generator.get_state())
        rules = self._playing(roles.OutputRule)
        memory = _copied({rule.name: self.memory[rule.name] for rule in rules})
        step = replace(self._step(inputs, prediction), generator=generator)
        logits = self._corrected(self._with_targets(step, memory, roles.OutputRule), memory)
        self.counters = counters
        return logits

    def _admit(self, inputs: Tensor) -> Tensor:
        """Check a batch, and begin with the first one."""
        input_rules.check(inputs, self.backbone, self.sample_shape)
        if self.sample_shape is None:
            self._begin(tuple(inputs.shape[1:]))
        return inputs.clone() if inputs.is_inference() else inputs.detach()

    def _parts(self, inputs: Tensor) -> list[Tensor]:
        """The batch, cut where a window fills up, so that how samples are batched is no matter."""
        room = self.window.room if self.learns else None
        if room is None or self.window.size is None:
            return [inputs]
        first, rest = inputs[:room], inputs[room:]
        return [first, *rest.split(self.window.size)] if len(rest) else [first]

    def _take(self, inputs: Tensor) -> Tensor:
        """Predict, and learn where it is time to."""
        pace, before = self.pace, passes(self.counters)  # a reset on the way begins another pace
        pace.arrive(len(inputs))
        windowed = self.window.size is not None  # a window takes its turn when it is full
        self._learning = self.learns and (windowed or pace.turn(len(inputs)))
        logits = self._advance(inputs)
        beyond = passes(self.counters) - before - len(inputs)
        pace.pay(beyond, (self.window.size or len(inputs)) if self._learning else 0)
        return logits

    def _advance(self, inputs: Tensor) -> Tensor:
        at_once = self._learning and self.window.size is None and not self._micro_batched(inputs)
        with torch.set_grad_enabled(at_once):
            prediction = self._forward_in_parts(inputs, self._norm_for(len(inputs)))
        if not bool(prediction.logits.detach().isfinite().all()):
            return self._fall_back(inputs)
        step = self._with_targets(self._step(inputs, prediction), self.memory, roles.OutputRule)
        with torch.no_grad():
            logits = self._corrected(replace(step, prediction=prediction.detach()), self.memory)
        if self.window.size is not None:
            self.window.recent = step.recent.rows(slice(-self.window.size, None))
        if self._learning:
            self._learn_or_wait(step)
        return logits

    @torch.no_grad()
    def _fall_back(self, inputs: Tensor) -> Tensor:
        """The source model's logits, where the stream's are not finite: they teach nothing."""
        self.counters.skipped_updates += 1
        self.counters.forward_samples += len(inputs)
        return _full(self.backbone(inputs).logits)

    def _corrected(self, step: roles.Step, memory: dict[str, Tensors]) -> Tensor:
        logits = step.logits
        for rule in self._playing(roles.OutputRule):
            logits = rule.correct(logits, step, memory[rule.name])
        return logits

    def _step(self, inputs: Tensor, prediction: Prediction) -> roles.Step:
        return roles.Step(
            inputs=inputs,
            prediction=prediction,
            forward=self._forward_again,
            generator=self.generator,
            recent=self.window.with_recent(prediction.detach()),
            policy=self._norm_again(len(inputs)),
        )

    # ---------------------------------------------------------------- the backbone

    def _norm_for(self, samples: int) -> NormPolicy:
        """The policy of a first pass over so many samples.

        A window of single samples has no batch to take statistics from, so batch norms follow
        the stream instead, starting from the source's statistics.
        """
        policy = self.method.norm
        if self.window.size is not None and policy == BATCH:
            policy = tracking(self.window.size, samples)
        if self.backbone.has_batch_norm and self.memory:  # there is none before the stream begins
            for rule in self._playing(roles.NormRule):
                policy = rule.norm(policy, samples, self.memory[rule.name])
        return policy

    def _norm_again(self, samples: int) -> NormPolicy:
        """The policy of a further pass over so many of them: statistics do not move twice."""
        if self.window.size is not None and self.method.norm == BATCH:
            return SOURCE
        return replace(self._norm_for(samples), keep_weight=0.0)

    def _forward(
        self,
        inputs: Tensor,
        params: Tensors | None,
        policy: NormPolicy,
        statistics: Tensors | None = None,
    ) -> Prediction:
        """The only way to the backbone, so the only place that counts.

        ``statistics`` that the policy moves are changed in place, unless the logits are not finite.
        """
        self.counters.forward_samples += len(inputs)
        params = self.params if params is None else params
        # Trained parameters of half-precision models are kept in float32: small steps would be
        # lost in their rounding.
        cast = {name: p.to(self.backbone.dtype) for name, p in params.items()}
        stored = self.statistics if statistics is None else statistics
        moved = stored
        if policy.keep_weight:
            moved = {name: s.clone() for name, s in stored.items()}
        logits, features = self.backbone(inputs, cast, moved, policy)
        if policy.keep_weight and bool(logits.detach().isfinite().all()):
            stored.update(moved)
        self._loss_scale = HALF_LOSS_SCALE if logits.dtype == torch.float16 else 1.0
        return Prediction(_full(logits), None if features is None else _full(features))

    def _forward_again(
        self, inputs: Tensor, params: Tensors | None = None, policy: NormPolicy | None = None
    ) -> Prediction:
        """A further pass for a component; with gradients it is part of the backward pass too."""
        if torch.is_grad_enabled():
            self.counters.backward_samples += len(inputs)
        chosen = self._norm_again(len(inputs)) if policy is None else policy
        return self._forward_singly(inputs, params, replace(chosen, keep_weight=0.0))

    def _forward_singly(
        self, inputs: Tensor, params: Tensors | None, policy: NormPolicy
    ) -> Prediction:
        """A pass over all samples, one by one where that costs no more than all at once."""
        alone = self.backbone.prefers_single_samples and layout.suits_single_samples(inputs)
        if not alone or len(inputs) == 1:
            return self._forward(inputs, params, policy)
        parts = [self._forward(one, params, policy) for one in inputs.split(1)]
        return SeparatePredictions.of(parts)

    def _micro_batched(self, inputs: Tensor) -> bool:
        return self.micro_batch is not None and len(inputs) > self.micro_batch

    def _forward_in_parts(self, inputs: Tensor, policy: NormPolicy) -> Prediction:
        parts = inputs.split(self.micro_batch or len(inputs))
        predictions = [self._forward_singly(part, None, policy) for part in parts]
        return predictions[0] if len(predictions) == 1 else joined(predictions)

    # ---------------------------------------------------------------- learning

    def _learn_or_wait(self, step: roles.Step) -> None:
        micro_batch = self.micro_batch or len(step.inputs)
        if self._playing(roles.Recall):
            self._learn_from_recalled(step)
        elif self.window.size is None:
            self._learn(step, micro_batch)
        else:
            self.window.collect(step.inputs, step.prediction)
            if self.window.room:
                return
            micro_batch = self.micro_batch or self.window.largest
            released = self.window.release()
            if self.pace.turn(len(released[0])):
                self._learn_again(*released, micro_batch)
        self._reset_if_due()

    def _reset_if_due(self) -> None:
        rules = self._playing(roles.ResetRule)
        if any(rule.is_due(self.memory[rule.name]) for rule in rules):
            self.reset()

    def _learn_from_recalled(self, step: roles.Step) -> None:
        detached = replace(step, prediction=step.prediction.detach())
        for rule in self._playing(roles.Recall):
            for inputs in rule.recall(detached, self.memory[rule.name]):
                self._learn_again(inputs, None, self.micro_batch or len(inputs))

    def _learn_again(self, inputs: Tensor, prediction: Prediction | None, micro_batch: int) -> None:
        """One update from samples that came earlier, and what was predicted then, if known."""
        if prediction is None:
            with torch.set_grad_enabled(not self._micro_batched(inputs)):
                prediction = self._forward(inputs, None, self._norm_again(len(inputs)))
        self._learn(self._step(inputs, prediction), micro_batch)

    def _learn(self, step: roles.Step, micro_batch: int) -> None:
        """One update from these samples."""
        weights = self._weights(step)
        if not bool((weights > 0).any()):
            self._learn_nothing()
            return
        step = self._with_targets(step, self.memory)
        with torch.enable_grad():
            finite = self._add_up_gradients(step, weights, micro_batch)
        self._update(finite)

    def _learn_nothing(self) -> None:
        """Every sample is left out: nothing moves."""

    @torch.no_grad()
    def _weights(self, step: roles.Step) -> Tensor:
        """How much each sample counts, shape (batch,)."""
        detached = replace(step, prediction=step.prediction.detach())
        rules = self._playing(roles.Weighting)
        factors = [rule.weights(detached, self.memory[rule.name]) for rule in rules]
        return math.prod(factors, start=torch.ones_like(step.logits[:, 0]))

    def _add_up_gradients(self, step: roles.Step, weights: Tensor, micro_batch: int) -> bool:
        """Gradients of the whole loss, a micro-batch at a time; False once it is not finite."""
        kept = weights > 0
        observed = []
        for part, used in self._parts_with_graph(step, kept, micro_batch):
            losses = self._losses(part)
            loss = (weights[used] * losses).sum() / len(kept)
            loss = loss + self._penalty() * (len(used) / int(kept.sum()))
            if not bool(loss.isfinite()):
                return False
            (loss * self._loss_scale).backward()
            observed.append(losses.detach())
        self._show_losses(torch.cat(observed))
        return True

    def _parts_with_graph(
        self, step: roles.Step, kept: Tensor, micro_batch: int
    ) -> Iterator[tuple[roles.Step, Tensor]]:
        """The kept samples of each micro-batch, ready for gradients, and their rows."""
        views = self._views(step.inputs[kept])
        done = 0
        for rows in torch.arange(len(kept), device=kept.device).split(micro_batch):
            used = rows[kept[rows]]
            if not len(used):
                continue
            # views that objectives share stay one tensor, so that they pass the network once
            shown = {id(view): view[done : done + len(used)] for view in views.values()}
            part = replace(
                self._with_graph(step, rows, used),
                views={name: shown[id(view)] for name, view in views.items()},
                targets={
                    name: {key: value[used] for key, value in targets.items()}
                    for name, targets in step.targets.items()
                },
                passed={},
            )
            done += len(used)
            self.counters.backward_samples += len(used) if part.logits.requires_grad else 0
            yield part, used

    @torch.no_grad()
    def _show_losses(self, losses: Tensor) -> None:
        """Let the parameter rules see what the samples of the coming update cost."""
        for rule in self._playing(roles.ParameterRule):
            rule.observe(losses, self.memory[rule.name])

    def _with_graph(self, step: roles.Step, rows: Tensor, used: Tensor) -> roles.Step:
        """The ``used`` samples with a prediction that gradients can flow through.

        Where samples share batch statistics, all ``rows`` of the micro-batch go through again.
        """
        if step.logits.requires_grad:
            return replace(step, inputs=step.inputs[used], prediction=step.prediction.rows(used))
        policy = self._norm_again(len(rows))
        together = policy.couples_samples and self.backbone.has_batch_norm
        prediction = self._forward(step.inputs[rows if together else used], None, policy)
        if together:
            prediction = prediction.rows(torch.isin(rows, used))
        return replace(step, inputs=step.inputs[used], prediction=prediction)

    @torch.no_grad()
    def _with_targets(
        self, step: roles.Step, memory: dict[str, Tensors], role: type[Role] | None = None
    ) -> roles.Step:
        """The step with the targets of all objectives, or of those that play a role too."""
        detached = replace(step, prediction=step.prediction.detach())
        targets = {
            objective.name: objective.targets(detached, memory[objective.name])
            for objective in self._playing(roles.Objective)
            if objective.name not in step.targets and isinstance(objective, role or object)
        }
        return replace(step, targets=step.targets | targets)

    @torch.no_grad()
    def _views(self, inputs: Tensor) -> Tensors:
        views: Tensors = {}
        shared: list[tuple[object, Tensor]] = []
        for objective in self._playing(roles.Objective):
            maker = objective.shared_view
            known = [view for other, view in shared if maker is not None and other == maker]
            view = known[0] if known else objective.views(inputs, self.generator)
            if view is not None:
                views[objective.name] = view
                shared.append((maker, view))
        return views

    def _losses(self, step: roles.Step) -> Tensor:
        objectives = self._playing(roles.Objective)
        losses = [objective.loss(step, self.memory[objective.name]) for objective in objectives]
        return torch.stack(losses).sum(0)

    def _penalty(self) -> Tensor | float:
        rules = self._playing(roles.Penalty)
        return sum(r.penalty(self.params, self.source, self.memory[r.name]) for r in rules)

    @torch.no_grad()
    def _update(self, finite: bool = True) -> None:
        """Step along the gradients and apply the parameter rules, or leave all as it was."""
        trained = self._trained()
        grads = [tensor.grad for tensor in trained if tensor.grad is not None]
        if finite and grads and _all_finite(grads):
            for grad in grads if self._loss_scale != 1 else []:
                grad.div_(self._loss_scale)
            before = [tensor.clone() for tensor in trained]
            self._move()
            if _all_finite(trained):
                self._apply_rules()
                self.counters.updates += 1
            else:
                self._undo(before)
        elif grads or not finite:
            self.counters.skipped_updates += 1
        for tensor in trained:
            tensor.grad = None

    def _move(self) -> None:
        assert self.optimizer is not None
        self.optimizer.step()

    def _apply_rules(self) -> None:
        for rule in self._playing(roles.ParameterRule):
            rule.after_update(self.params, self.source, self.memory[rule.name])
        torch.clear_autocast_cache()

    def _undo(self, before: list[Tensor]) -> None:
        """Back to the values before a step that overflowed; its momentum is not to be trusted."""
        for tensor, value in zip(self._trained(), before, strict=True):
            tensor.copy_(value)
        self._renew_optimizer()
        self.counters.skipped_updates += 1

    def _playing(self, role: type[Role]) -> list[Role]:
        return self.method.playing(role)

    def _trained(self) -> list[Tensor]:
        """The stream's parameters and whatever its components train beside them."""
        extra = (t for memory in self.memory.values() for t in memory.values() if t.requires_grad)
        return [*self.params.values(), *extra]

    def _renew_optimizer(self) -> None:
        if self.learns and self.sample_shape is not None:
            self.optimizer = self.method.optimizer.build(self._trained(), self.sample_shape)

    # ---------------------------------------------------------------- beginning, stopping, going on

    def _rewind(self) -> None:
        """Source weights, source statistics, first random state; no memory yet."""
        self.params = {
            name: _full(value).clone().requires_grad_() for name, value in self.source.items()
        }
        self.statistics = {name: s.clone() for name, s in self.backbone.statistics.items()}
        self.memory = {}
        self.optimizer = None
        self.generator = torch.Generator().manual_seed(self.seed)
        self.window = Window(self.window.size)
        self.pace = self.pace.afresh()

    def _begin(self, sample_shape: tuple[int, ...]) -> None:
        """Prepare for samples of this shape: the first batch decides it."""
        blank = torch.zeros(
            1, *sample_shape, dtype=self.backbone.dtype, device=self.backbone.device
        )
        try:
            found = self.backbone.probe(blank)
        except (RuntimeError, IndexError, TypeError) as error:
            raise ValueError(
                f"the model takes no samples of shape {sample_shape}: {error}"
            ) from error
        start = roles.Start(
            backbone=self.backbone,
            source=self.source,
            num_classes=found.logits.shape[1],
            num_features=None if found.features is None else found.features.shape[1],
            sample_shape=sample_shape,
            device=self.backbone.device,
            forward=self._forward_again,
            generator=self.generator,
        )
        self.memory = self._new_memory(start)
        self.sample_shape = sample_shape
        self._renew_optimizer()
        self._mark_start()

    def _mark_start(self) -> None:
        """Let a reset come back to the memory and random state of this moment."""
        self._first_memory = _copied(self.memory)
        self._first_generator = self.generator.get_state()

    def _new_memory(self, start: roles.Start) -> dict[str, Tensors]:
        """Each component's memory by its name; a loop of its own may add memory of its own."""
        return {c.name: c.new_memory(start) for c in self.method.components}

    @torch.inference_mode(False)
    def reset(self) -> None:
        """Forget the stream: source weights, first memory, first random state."""
        self._rewind()
        if self.sample_shape is not None:
            self.memory = _copied(self._first_memory)
            self.generator.set_state(self._first_generator)
            self._renew_optimizer()
        self.counters.resets += 1

    def begin_again(self, sample_shape: tuple[int, ...] | None, seed: int) -> None:
        """Become a stream that has seen nothing yet, or no more than the shape of its samples."""
        if (sample_shape, seed) == (self.sample_shape, self.seed):
            self.reset()
            return
        self.seed, self.sample_shape = seed, None
        self._rewind()
        if sample_shape is not None:
            self._begin(sample_shape)

    def restore_optimizer(self, slots: dict[int, Tensors]) -> None:
        """A fresh optimiser of the stream's tensors with these moments."""
        self._renew_optimizer()
        if self.optimizer is not None:
            groups = self.optimizer.state_dict()["param_groups"]
            self.optimizer.load_state_dict({"state": slots, "param_groups": groups})

    def state_dict(self) -> dict[str, Any]:
        """All that decides the next predictions, bit for bit, as copies."""
        return state_files.capture(self)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where ``state`` was taken; refused when it is of another model or method."""
        state_files.restore(self, state)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a safetensors file, whole or not at all, and a manifest beside it."""
        state_files.write(path, self.state_dict())

    def load(self, path: str | os.PathLike[str]) -> None:
        """Go on where ``save`` stopped."""
        self.load_state_dict(state_files.read(path, self.backbone.device))


def _full(tensor: Tensor) -> Tensor:
    """At least float32, whatever the network computes in."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))


def _copied(memory: dict[str, Tensors]) -> dict[str, Tensors]:
    return {
        name: {
            key: value.detach().clone().requires_grad_(value.requires_grad)
            for key, value in tensors.items()
        }
        for name, tensors in memory.items()
    }


def _all_finite(tensors: list[Tensor]) -> bool:
    return bool(torch.cat([tensor.detach().flatten() for tensor in tensors]).isfinite().all())
