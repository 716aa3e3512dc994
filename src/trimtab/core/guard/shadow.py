"""Both models on the same samples: the passes that a guard makes, all of them counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from trimtab.augment import Augment, augmented, mirrored
from trimtab.augment.destroy import PatchShuffle
from trimtab.augment.normalization import in_force
from trimtab.augment.stretch import stretched
from trimtab.core.answer import Answer, answer_of
from trimtab.core.attempt import Attempt
from trimtab.core.backbone import Tensors
from trimtab.core.finite import is_finite
from trimtab.core.guard import erased
from trimtab.core.guard.look import Look
from trimtab.core.guard.questions import questions
from trimtab.core.guard.settings import Guard
from trimtab.core.state import StreamState
from trimtab.core.structured import Structured

LOOK_SAMPLES = 64
"""Most samples of a batch that are looked at."""
TELLING = 0.02
"""Where the models differ on no more than this share of samples, views would tell nothing."""
PATCHES = PatchShuffle(4)
WHOLE = slice(None)


@dataclass(frozen=True)
class Shadow:
    """The source model beside the adapted one.

    Args:
        attempt: Makes an attempt from a state.
    """

    guard: Guard
    attempt: Callable[[StreamState], Attempt]

    def look(
        self,
        before: StreamState,
        after: StreamState,
        inputs: Tensor,
        answer: Answer,
        evidence: Tensors,
    ) -> tuple[Look, int]:
        """Both models on the same samples, and on a view of them where they differ; its passes.

        Args:
            before: The state that ``inputs`` were answered with.
            after: Its counters count the passes.
            evidence: What is known of the stream, these inputs included.
        """
        spent = after.counters.forward_samples
        shown, source = inputs[:LOOK_SAMPLES], answer.source
        if source is None:
            source = self.passed(before, after, shown)
        look = self.plain_look(before, answer, source[:LOOK_SAMPLES], slice(LOOK_SAMPLES))
        look = replace(look, agreed=look.disagreement <= TELLING)
        if not look.agreed and (view := self._view(before, shown)) is not None:
            adapted_view, source_view = self._both(before, after, view, answer.assumes_runs)
            if adapted_view.dim() > 2 and self.guard.view is None:  # pixels back to their places
                adapted_view, source_view = mirrored(adapted_view), mirrored(source_view)
            look = replace(look, adapted_view=adapted_view, source_view=source_view)
        if _are_images(shown) and look.adapted.dim() == 2:
            look = self._questioned(look, before, after, shown, evidence)
        if not look.agreed and erased.is_worth_a_pass(evidence, look):
            look = replace(look, halfway=self._halfway(before, after, shown))
        return look, after.counters.forward_samples - spent

    def plain_look(
        self, state: StreamState, answer: Answer, source: Tensor, shown: slice = WHOLE
    ) -> Look:
        """Logits of both models, without a view.

        Args:
            source: The source model's, of the samples that are ``shown``.
        """
        method = self.attempt(state).method
        look = Look(answer.logits[shown], source, corrects=method.only_corrects)
        shifts = method.shifts_classes and answer.assumes_runs
        return replace(look, may_drift=method.may_drift, shifts_classes=shifts)

    def _both(
        self, before: StreamState, after: StreamState, view: Tensor, runs: bool
    ) -> tuple[Tensor, Tensor]:
        """Predictions of a view by the adapted and by the source model.

        Rules that only correct outputs let samples of a batch agree, which any view of the whole
        batch would repeat, so they see every other sample.
        """
        parts = 2 if self.attempt(before).method.only_corrects and len(view) > 1 else 1
        pairs = [self._pair(before, after, view[n::parts], runs) for n in range(parts)]
        return _woven([pair[0] for pair in pairs]), _woven([pair[1] for pair in pairs])

    def _pair(
        self, before: StreamState, after: StreamState, inputs: Tensor, runs: bool
    ) -> tuple[Tensor, Tensor]:
        attempt = self.attempt(before)
        with torch.no_grad():
            answer = answer_of(attempt, attempt.soundly(inputs, foresee=True))
        self._count(attempt, before, after)
        logits = answer.assuming(runs).logits
        if attempt.uncorrected is not None:
            return logits, attempt.uncorrected
        return logits, self.passed(before, after, inputs)

    def _questioned(
        self,
        look: Look,
        before: StreamState,
        after: StreamState,
        shown: Tensor,
        evidence: Tensors,
    ) -> Look:
        """The look with what the source says of further views, where it is asked for them."""
        wanted = questions(look, evidence)
        look = replace(look, asked=wanted.asked)
        shown = shown if wanted.asked is None else shown[wanted.asked]
        if wanted.shuffled:
            shuffled = self._altered(before, shown, PATCHES)
            look = replace(look, source_shuffled=self.passed(before, after, shuffled))
        if wanted.stretched:
            full = self._altered(before, shown, stretched)
            look = replace(look, source_stretched=self.passed(before, after, full))
        return look

    @torch.no_grad()
    def _halfway(self, before: StreamState, after: StreamState, inputs: Tensor) -> Tensor | None:
        """Logits by the source, but for the batch's statistics in its first batch norms; None where
        they are not finite."""
        attempt = self.attempt(before)
        policy = replace(attempt.learner.further_norm(attempt, len(inputs)), late_share=0.0)
        logits = attempt.forward(inputs, {}, policy, {}).logits
        self._count(attempt, before, after)
        return logits if is_finite(logits) else None

    def _view(self, state: StreamState, inputs: Tensor) -> Tensor | None:
        view = self.guard.view or (mirrored if _are_images(inputs) else None)
        if view is None:
            return None
        altered = self._altered(state, inputs, view)
        if not is_finite(altered):
            raise ValueError("a guard's view must be finite, as what it is given is")
        return altered

    def _altered(self, state: StreamState, inputs: Tensor, view: Augment) -> Tensor:
        with in_force(self.attempt(state).backbone.normalization):
            return augmented(view, inputs, state.draft().generator)

    @torch.no_grad()
    def passed(
        self,
        before: StreamState,
        after: StreamState,
        inputs: Tensor,
        paid: bool = False,
    ) -> Tensor:
        """Logits by the source.

        Args:
            after: Its counters count the passes, and its pace does unless they are ``paid``.
        """
        attempt = self.attempt(before)
        logits = attempt.by_the_source(inputs)
        self._count(attempt, before, after, paid)
        return logits

    def _count(
        self, attempt: Attempt, before: StreamState, after: StreamState, paid: bool = False
    ) -> None:
        """Count the passes of an attempt that started from ``before``."""
        done = attempt.state.counters.forward_samples - before.counters.forward_samples
        after.counters.forward_samples += done
        after.pace.pay(0 if paid else done, 0)

    def rest_by_source(
        self, before: StreamState, after: StreamState, inputs: Tensor, known: Tensor
    ) -> Tensor:
        """The source's logits of a whole batch, those of its first samples being known."""
        rest = inputs[len(known) :]
        if not len(rest):
            return known
        return torch.cat([known, self.passed(before, after, rest)])

    def restored(self, state: StreamState, target: StreamState | None) -> StreamState:
        """``state`` with weights, statistics and memories of another one, or of the beginning;
        memories that tell of the stream alone stay."""
        attempt = self.attempt(state)
        source = target if target is not None else attempt.first
        assert source is not None  # only a stream that has begun is guarded
        clone, kept = source.clone(), attempt.state
        going_on = {name: kept.memory[name] for name in attempt.method.tells_of_stream}
        kept.params, kept.statistics = clone.params, clone.statistics
        kept.memory, kept.moments, kept.window = clone.memory | going_on, {}, clone.window
        return kept


def _are_images(inputs: Tensor) -> bool:
    return inputs.dim() == 4 and not isinstance(inputs, Structured)


def _woven(parts: list[Tensor]) -> Tensor:
    """Every other row of each part in turn."""
    if len(parts) == 1:
        return parts[0]
    rows = parts[0].new_empty(sum(map(len, parts)), *parts[0].shape[1:])
    for place, part in enumerate(parts):
        rows[place :: len(parts)] = part
    return rows
