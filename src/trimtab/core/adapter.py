"""An adapting model, the face of one stream: each call predicts and learns as one transaction."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from trimtab.core import captured, memory_limit, saved
from trimtab.core import inputs as input_rules
from trimtab.core.answer import learned
from trimtab.core.attempt import Attempt
from trimtab.core.backbone import Backbone, Tensors
from trimtab.core.beginning import Beginnings, sample_of
from trimtab.core.face import Face
from trimtab.core.guard.settings import Guard, chosen, new_evidence
from trimtab.core.guard.watch import Watch
from trimtab.core.observed import Observed
from trimtab.core.pace import Budget, Pace
from trimtab.core.party import Batch, Party
from trimtab.core.passes import Alone, Passes
from trimtab.core.plausible import merged
from trimtab.core.ranges import whole_seed
from trimtab.core.state import StreamState
from trimtab.core.structured import Given
from trimtab.core.window import Window

if TYPE_CHECKING:
    from trimtab.core.method import Method


class Adapter(Observed, Face):
    """Predicts the batches of one stream and learns from them as they come.

    A call ends with logits and a new state, or with an error and the old state, bit for bit,
    whatever was raised and wherever. Calls from several threads wait for each other. Adapters that
    share a backbone never influence each other: all that changes is in ``state``.

    Args:
        seed: Decides all that is random.
        window: Collect this many samples for each update, whatever batches they come in, and
            take output rules' class priors over as many recent predictions. None learns from
            every batch as it comes.
        micro_batch: Most samples to hold in memory for gradients at once. None takes whole
            batches; with a window, batches of the size they come in.
        adapt_every: Batches (or windows) from one update to the next; those between
            are predicted without gradients, and corrected all the same.
        budget: Most passes per sample on average, in multiples of a plain forward: learn on as
            many batches as it allows. A pass backward counts as two forward. ``"auto"`` learns
            where inputs are new, and ever more rarely while updates change little.
        passes: Who makes the passes through the network; by default this stream alone.
        party: Which processes take each call together; by default this one alone.
        guard: Whether adapted predictions are compared with the source model's now and then, and
            what follows where they are worse; True for a Guard with nothing set.
    """

    def __init__(
        self,
        backbone: Backbone,
        method: Method,
        *,
        seed: int = 0,
        window: int | None = None,
        micro_batch: int | memory_limit.MemoryLimit | None = None,
        adapt_every: int = 1,
        budget: Budget = None,
        passes: Passes | None = None,
        party: Party | None = None,
        guard: bool | Guard | None = None,
    ) -> None:
        memory_limit.check(micro_batch)
        method = method.suited_to(backbone.task)
        super().__init__(backbone, method)
        self.micro_batch = micro_batch
        self.passes: Passes = passes or Alone(backbone)
        self.party: Party = party or Party()
        self.learns: bool = method.learns
        self.source: Tensors = method.source_params(backbone) if self.learns else {}
        self.guard: Guard | None = chosen(method.guarded if guard is None else guard)
        # Knows nothing of the adapter, so that this one's memory is freed with it.
        self._attempt = partial(Attempt, backbone, method, self.passes, self.source, micro_batch)
        self._beginnings = self._new_beginnings()
        with torch.inference_mode(False):
            self.state: StreamState = self._beginnings.at_the_source(
                whole_seed(seed), Window(window), Pace(adapt_every, budget)
            )

    # ---------------------------------------------------------------- predicting

    def __call__(self, inputs: Given) -> Tensor:
        """Logits of a batch, shape (batch, classes); learn from it where the method learns."""
        with self.lock, torch.inference_mode(False):
            with self.party.agreeing("a call", self.state):
                inputs, own = self._admit(inputs)
                begun = self._beginnings.begun(self.state, sample_of(inputs))
                with self._clean(begun):
                    state, logits = self._step(begun, inputs)
            self.commit(state)
            return logits[own]

    def predict(self, inputs: Given) -> Tensor:
        """What a call would return, but for updates on its way, learning and changing nothing."""
        with self.lock, torch.inference_mode(False), torch.no_grad():
            with self.party.agreeing("a prediction", self.state):
                inputs, own = self._admit(inputs)
                begun = self._beginnings.begun(self.state, sample_of(inputs))
                with self._clean(begun):
                    logits = self._foreseen(begun, inputs)
            return logits[own]

    def _foreseen(self, begun: StreamState, inputs: Tensor) -> Tensor:
        attempt = self._attempt(begun, self._beginnings.latest)
        refused, _ = begun.shown.judge(inputs)
        if refused is None:
            return self._honestly(begun, inputs)
        honest = inputs[~refused]
        logits = [self._honestly(begun, honest)] if len(honest) else []
        return merged(refused, logits, attempt.by_the_source(inputs[refused]))

    def begin(self, sample_shape: tuple[int, ...]) -> None:
        """Prepare for samples of this shape, as the first batch would."""
        with self.lock, torch.inference_mode(False):
            known = self.state.sample_shape
            if known not in (None, tuple(sample_shape)):
                raise ValueError(f"this stream has samples of shape {known}, got {sample_shape}")
            with self.party.agreeing(f"a beginning with {sample_shape}", self.state):
                begun = self._beginnings.begun(self.state, tuple(sample_shape))
            self.state = begun

    def _admit(self, inputs: Given) -> Batch:
        stream = self.backbone, self.method, self.state
        empty = self.party.takes_empty_batches
        return self.party.joined(input_rules.admitted(inputs, *stream, empty=empty))

    @contextmanager
    def _clean(self, begun: StreamState) -> Iterator[None]:
        """Leave no gradient behind, and no cast of parameters that are gone."""
        try:
            yield
        finally:
            begun.forget_gradients()
            if self.learns:
                torch.clear_autocast_cache()

    def _step(self, state: StreamState, inputs: Tensor) -> tuple[StreamState, Tensor]:
        """The state after a batch, and its logits. Samples out of range are left out."""
        refused, shown = state.shown.judge(inputs)
        counters = replace(state.counters, samples=state.counters.samples + len(inputs))
        state = replace(state, counters=counters)  # a guard speaks of samples up to this batch
        state, logits = self._guarded(state, inputs if refused is None else inputs[~refused])
        if refused is not None:
            attempt = self._attempt(state, self._beginnings.latest)
            logits = [merged(refused, logits, attempt.by_the_source(inputs[refused]))]
            state = attempt.state
            state.counters.refused_samples += int(refused.sum())
        state.shown = shown
        return state, torch.cat(logits)

    def _guarded(self, state: StreamState, inputs: Tensor) -> tuple[StreamState, list[Tensor]]:
        """The same for honest samples, under guard where there is one."""
        if self.guard is None or not len(inputs):
            state, answers = learned(self._attempts, state, inputs)
            return state, [answer.logits for answer in answers]
        state, logits = self._watch(self.guard).step(state, inputs)
        return state, [logits]

    def _honestly(self, begun: StreamState, inputs: Tensor) -> Tensor:
        """What a call would return for honest samples."""
        if self.guard is not None:
            return self._watch(self.guard).foresee(begun, inputs)
        return self._attempt(begun, self._beginnings.latest).soundly(inputs, foresee=True)

    def _watch(self, guard: Guard) -> Watch:
        return Watch(guard, self._attempts)

    @property
    def _attempts(self) -> partial[Attempt]:
        return partial(self._attempt, first=self._beginnings.latest)

    # ---------------------------------------------------------------- stopping and going on

    def reset(self) -> None:
        """Forget the stream: source weights, first memory, first random state."""
        with self.lock, torch.inference_mode(False):
            with self.party.agreeing("a reset", self.state):
                fresh = self._beginnings.again(self.state)
            self.state = fresh

    def clone(self) -> Adapter:
        """An independent stream on the same backbone, which goes on from here by itself."""
        with self.lock, torch.inference_mode(False):
            twin = object.__new__(type(self))
            vars(twin).update(vars(self))
            Observed.__init__(twin, self.backbone, self.method, self.history)
            twin.state = self.state.clone()
            twin._beginnings = twin._new_beginnings(self._beginnings.latest)
            return twin

    def _new_beginnings(self, latest: StreamState | None = None) -> Beginnings:
        method = self.method
        evidence = new_evidence(self.guard, method.only_corrects, method.may_drift)
        return Beginnings(self.backbone, self.source, self._attempt, latest, evidence)

    def __copy__(self) -> Adapter:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> Adapter:
        return self.clone()

    def state_dict(self) -> dict[str, Any]:
        """All that decides the next predictions, bit for bit, as copies."""
        with self.lock, torch.inference_mode(False):
            return captured.capture(self.identity, self.state)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where ``state`` was taken; refused, whole, when anything about it is wrong."""
        with self.lock, torch.inference_mode(False):
            with self.party.agreeing("a load"):
                restored = self._restored(state)
            self.resume(restored)

    def _restored(self, state: dict[str, Any]) -> StreamState:
        captured.refuse_strangers(self.identity, state)
        seed, sample = captured.seed_and_sample(state)
        if sample is None:
            first = self._beginnings.at_the_source(seed, self.state.window, self.state.pace)
        else:
            first = self._beginnings.like(self.state, sample, seed)
        return captured.restored(state, first, self.method, self.backbone.num_classes or 0)

    @property
    def identity(self) -> dict[str, str]:
        """What must be the same for a saved state to fit."""
        fixed = self.backbone, self.method, self.state, self.micro_batch, self.guard
        return captured.identity(*fixed)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a safetensors file, whole or not at all, and a manifest beside it."""
        saved.write(path, self.state_dict())

    def load(self, path: str | os.PathLike[str]) -> None:
        """Go on where ``save`` stopped."""
        self.load_state_dict(saved.read(path, self.backbone.device))
