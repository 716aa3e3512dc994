"""What a method makes of a batch, before a guard has judged it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from trimtab.core.attempt import Attempt
from trimtab.core.state import StreamState


@dataclass(frozen=True)
class Answer:
    """Logits of a batch, shape (batch, classes, ...), by all output rules and before them.

    Args:
        source: The source model's, where they are the method's own before it corrects them, so that
            they cost nothing.
        independent: Those without output rules that assume classes in runs, where there are such.
        assumes_runs: Whether these rules have their say.
    """

    corrected: Tensor
    source: Tensor | None = None
    independent: Tensor | None = None
    assumes_runs: bool = True

    @property
    def logits(self) -> Tensor:
        """What the method answers."""
        if self.independent is None or self.assumes_runs:
            return self.corrected
        return self.independent

    @property
    def before(self) -> Tensor:
        """What the method would answer if classes came independently of each other."""
        return self.corrected if self.independent is None else self.independent

    @property
    def may_assume_runs(self) -> bool:
        """Whether there are such rules, and samples that may come in runs: segments are none."""
        return self.independent is not None and self.independent.dim() == 2

    def assuming(self, runs: bool) -> Answer:
        """The answer where there are runs, or none."""
        return replace(self, assumes_runs=runs)


def answer_of(attempt: Attempt, logits: Tensor) -> Answer:
    """What an attempt has come to, with ``logits`` after all rules."""
    return Answer(logits, attempt.uncorrected, attempt.independent)


def joined(parts: list[Answer]) -> Answer:
    """Answers to the parts of a batch as one; where a part has no logits of a kind, it has one of
    the others' in their place."""
    if len(parts) == 1:
        return parts[0]
    corrected = torch.cat([part.corrected for part in parts])
    if all(part.independent is None for part in parts):
        return Answer(corrected)
    return Answer(corrected, independent=torch.cat([part.before for part in parts]))


def learned(
    attempt_from: Callable[[StreamState], Attempt], state: StreamState, inputs: Tensor
) -> tuple[StreamState, list[Answer]]:
    """The state after samples, and the answers to them, cut where a window fills up, however they
    are batched; no guard has a say."""
    answers: list[Answer] = []
    while len(inputs):
        attempt = attempt_from(state)
        room = state.window.room if attempt.method.learns else None
        answers.append(answer_of(attempt, attempt.take(inputs[:room])))
        state, inputs = attempt.state, inputs[len(answers[-1].corrected) :]
    return state, answers
