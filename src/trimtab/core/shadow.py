"""Both models on the same samples: the passes that a guard makes, all of them counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from trimtab.augment import augmented, mirrored
from trimtab.core.attempt import Attempt
from trimtab.core.guard import Guard
from trimtab.core.look import Look
from trimtab.core.state import StreamState
from trimtab.core.structured import Structured

LOOK_SAMPLES = 64
"""Most samples of a batch that are looked at."""
TELLING = 0.02
"""Where the models differ on no more than this share of samples, views would tell nothing."""


@dataclass(frozen=True)
class Shadow:
    """The source model beside the adapted one.

    Args:
        attempt: Makes an attempt from a state.
        learn: Takes a batch without a guard: the state after it, and its logits in parts.
    """

    guard: Guard
    attempt: Callable[[StreamState], Attempt]
    learn: Callable[[StreamState, Tensor], tuple[StreamState, list[Tensor]]]

    def look(
        self,
        before: StreamState,
        after: StreamState,
        inputs: Tensor,
        logits: Tensor,
        source: Tensor | None = None,
        *,
        thorough: bool = True,
    ) -> tuple[Look, int]:
        """Both models on the same samples, and on a view of them where they differ; its passes.

        Args:
            before: The state that ``logits`` were predicted with.
            after: Its counters count the passes.
            source: The source model's logits, where they are known already.
            thorough: Whether views are taken, where the models differ.
        """
        spent = after.counters.forward_samples
        shown, adapted = inputs[:LOOK_SAMPLES], logits[:LOOK_SAMPLES]
        if source is None:
            source = self.passed(before, after, shown, by_source=True)
        look = Look(adapted, source[:LOOK_SAMPLES])
        look = replace(look, agreed=look.disagreement <= TELLING)
        view = self._view(before, shown) if thorough and not look.agreed else None
        if view is not None:
            adapted_view = self.passed(before, after, view, by_source=False)
            source_view = self.passed(before, after, view, by_source=True)
            if adapted_view.dim() > 2 and self.guard.view is None:  # pixels back to their places
                adapted_view, source_view = mirrored(adapted_view), mirrored(source_view)
            look = replace(look, adapted_view=adapted_view, source_view=source_view)
        return look, after.counters.forward_samples - spent

    def _view(self, state: StreamState, inputs: Tensor) -> Tensor | None:
        are_images = inputs.dim() == 4 and not isinstance(inputs, Structured)
        view = self.guard.view or (mirrored if are_images else None)
        return None if view is None else augmented(view, inputs, state.draft().generator)

    @torch.no_grad()
    def passed(
        self,
        before: StreamState,
        after: StreamState,
        inputs: Tensor,
        *,
        by_source: bool,
        paid: bool = False,
    ) -> Tensor:
        """Logits by the source, or by the adapted model as it was ``before``.

        Args:
            after: Its counters count the passes, and its pace does unless they are ``paid``.
        """
        attempt = self.attempt(before)
        if by_source:
            logits = attempt.by_the_source(inputs)
        else:
            logits = attempt.soundly(inputs, foresee=True)
        done = attempt.state.counters.forward_samples - before.counters.forward_samples
        after.counters.forward_samples += done
        after.pace.pay(0 if paid else done, 0)
        return logits

    def rest_by_source(
        self, before: StreamState, after: StreamState, inputs: Tensor, known: Tensor
    ) -> Tensor:
        """The source's logits of a whole batch, those of its first samples being known."""
        rest = inputs[len(known) :]
        if not len(rest):
            return known
        return torch.cat([known, self.passed(before, after, rest, by_source=True)])

    def restored(self, state: StreamState, target: StreamState | None) -> StreamState:
        """``state`` with weights, statistics and memories of another one, or of the beginning."""
        attempt = self.attempt(state)
        source = target if target is not None else attempt.first
        assert source is not None  # only a stream that has begun is guarded
        clone, kept = source.clone(), attempt.state
        kept.params, kept.statistics = clone.params, clone.statistics
        kept.memory, kept.moments, kept.window = clone.memory, {}, clone.window
        return kept
