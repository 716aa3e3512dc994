"""The gate of a leaderboard: whether runs are of the same streams, and their numbers whole."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from trimtab.bench.result import RunResult, Scores
from trimtab.report.board.streams import BoardStream, Facts

ROUNDING = 1e-6
"""Shares that are equal on paper differ by no more than this."""


@dataclass(frozen=True)
class Agreement:
    """What the submissions agree on about each stream.

    Args:
        facts: By stream; without those of which no majority of submissions says the same.
        tolerance: Points by which the source model's error may differ.
    """

    facts: Mapping[BoardStream, Facts]
    tolerance: float

    def objection(self, run: RunResult) -> str | None:
        """Why a run of the board's streams cannot be compared, None if it can."""
        stream = BoardStream.of(run.spec)
        if run.scores is None:
            return f"failed on {stream}: {run.error}"
        broken = contradiction(run.scores)
        if broken:
            return f"its numbers contradict each other on {stream}: {broken}"
        agreed = self.facts.get(stream)
        if agreed is None:
            return (
                f"the submissions do not agree on {stream}, and none has a majority; "
                "--reference FILE decides"
            )
        difference = Facts.of(run).differs(agreed, self.tolerance)
        return (
            None
            if difference is None
            else f"not the stream that others have on {stream}: {difference}"
        )


def agreement(
    submitted: Iterable[Sequence[RunResult]],
    streams: Iterable[BoardStream],
    tolerance: float,
    reference: Sequence[RunResult] = (),
) -> Agreement:
    """What most of the submissions say of each stream, or what the reference says where it does.

    Args:
        submitted: The runs of each submission.
        streams: Those of the board.
        tolerance: Points by which the source model's error may differ.
        reference: Runs that are right by decision.
    """
    given = _facts(reference)
    votes = [_facts(runs) for runs in submitted]
    found = {}
    for stream in streams:
        said = [facts[stream] for facts in votes if stream in facts]
        decided = given.get(stream) or _majority(said, tolerance)
        if decided is not None:
            found[stream] = decided
    return Agreement(found, tolerance)


def contradiction(scores: Scores) -> str | None:
    """What cannot be in numbers that were counted, None if they fit together.

    In segmentation all shares are of labelled pixels, and samples are images.
    """
    counted = scores.samples if scores.miou is None else sum(scores.labels)
    flips = scores.negative_flips - scores.positive_flips
    checks = {
        "the error is not the source model's with the flips": math.isclose(
            scores.error - scores.source_error, flips, abs_tol=ROUNDING
        ),
        "the error is no count of samples": _is_count(scores.error, counted),
        "not every sample has a prediction": sum(scores.predicted) == counted,
        "not every sample has a label": sum(scores.labels) == counted,
        "the mean of the domains' errors is another": not scores.errors
        or math.isclose(
            statistics.fmean(scores.errors.values()), scores.domain_error, abs_tol=ROUNDING
        ),
    }
    return next((what for what, holds in checks.items() if not holds), None)


def _is_count(share: float, samples: int) -> bool:
    return abs(share * samples - round(share * samples)) < ROUNDING * max(1, samples)


def _facts(runs: Iterable[RunResult]) -> dict[BoardStream, Facts]:
    """Of each stream what the first of its runs says."""
    found: dict[BoardStream, Facts] = {}
    for run in runs:
        if run.scores is not None:
            found.setdefault(BoardStream.of(run.spec), Facts.of(run))
    return found


def _majority(said: Sequence[Facts], tolerance: float) -> Facts | None:
    """What more than half of them say, None if there is no such thing."""
    support = [sum(one.differs(other, tolerance) is None for one in said) for other in said]
    best = max(support, default=0)
    return said[support.index(best)] if 2 * best > len(said) else None
