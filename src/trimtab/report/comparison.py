"""Regression check: two stores side by side, what got better, what got worse."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from trimtab.bench.names import short_labels
from trimtab.bench.result import RunResult
from trimtab.bench.spec import RunSpec
from trimtab.report.averages import mean
from trimtab.report.settings import Row, RunProtocol, Setting

Pair = tuple[RunResult, RunResult]
"""A run of the earlier store, and the same run of the later one."""


@dataclass(frozen=True)
class Change:
    """One method in one setting, over the seeds that both stores have.

    Args:
        pairs: Earlier and later runs, by seed.
    """

    row: Row
    setting: Setting
    protocol: RunProtocol
    pairs: tuple[Pair, ...]

    @property
    def before(self) -> float | None:
        """Mean error in %, over seeds that are done in both stores."""
        return _mean_error([earlier for earlier, _ in self._done])

    @property
    def after(self) -> float | None:
        """Mean error in %, over seeds that are done in both stores."""
        return _mean_error([later for _, later in self._done])

    @property
    def difference(self) -> float | None:
        """Later minus earlier, in points, rounded to one decimal."""
        if self.before is None or self.after is None:
            return None
        return round(self.after - self.before, 1) + 0.0  # adding 0 turns -0.0 into 0.0

    @property
    def newly_failed(self) -> int:
        """Runs that were done and now fail."""
        return sum(
            earlier.scores is not None and later.scores is None for earlier, later in self.pairs
        )

    @property
    def other_weights(self) -> bool:
        """Whether the two stores used different weights."""
        return any(earlier.spec.weights != later.spec.weights for earlier, later in self.pairs)

    @property
    def worse(self) -> bool:
        """Whether the error rose, or runs fail that did not."""
        return self.newly_failed > 0 or (self.difference or 0) > 0

    def exceeds(self, points: float) -> bool:
        """Whether the error rose by more than ``points``, or runs fail that did not."""
        return self.newly_failed > 0 or (self.difference or 0) > points

    @property
    def _done(self) -> list[Pair]:
        return [
            (earlier, later)
            for earlier, later in self.pairs
            if earlier.scores is not None and later.scores is not None
        ]


@dataclass(frozen=True)
class Comparison:
    """All changes, the largest rise of the error first, and what only one store has."""

    changes: tuple[Change, ...]
    only_before: int
    only_after: int

    @property
    def worse(self) -> list[Change]:
        """Changes for the worse."""
        return [change for change in self.changes if change.worse]


def compare(earlier: Iterable[RunResult], later: Iterable[RunResult]) -> Comparison:
    """Runs are the same if their ids are, or, failing that, all of their spec but the weights."""
    earlier, later = list(earlier), list(later)
    pairs = _pairs(earlier, later)
    labels = short_labels(result.spec for _, result in pairs)
    groups: dict[tuple[Row, Setting, RunProtocol], list[Pair]] = defaultdict(list)
    for pair in pairs:
        spec = pair[1].spec
        groups[Row.of(spec, labels), Setting.of(spec), RunProtocol.of(spec)].append(pair)
    changes = [
        Change(*key, tuple(sorted(group, key=lambda pair: pair[1].spec.seed)))
        for key, group in groups.items()
    ]
    return Comparison(
        tuple(sorted(changes, key=_urgency)), len(earlier) - len(pairs), len(later) - len(pairs)
    )


def _pairs(earlier: Sequence[RunResult], later: Sequence[RunResult]) -> list[Pair]:
    by_id = {run.spec.id: run for run in earlier}
    same = [(by_id.pop(run.spec.id), run) for run in later if run.spec.id in by_id]
    taken = {run.spec.id for _, run in same}
    rest: dict[str, list[RunResult]] = defaultdict(list)
    for run in by_id.values():
        rest[_without_weights(run.spec)].append(run)
    for run in later:
        candidates = [] if run.spec.id in taken else rest[_without_weights(run.spec)]
        # Two sets of weights in the earlier store: which one is meant is anybody's guess.
        if len(candidates) == 1:
            same.append((candidates.pop(), run))
    return same


def _without_weights(spec: RunSpec) -> str:
    return replace(spec, weights=None).canonical()


def _mean_error(runs: Sequence[RunResult]) -> float | None:
    return mean(100 * run.scores.error for run in runs if run.scores is not None)


def _urgency(change: Change) -> tuple[int, float, str]:
    words = json.dumps([change.row.identity, *change.setting.order])
    return (-change.newly_failed, -(change.difference or 0.0), words)
