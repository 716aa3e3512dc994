"""Entries of a leaderboard and their places: by worst setting, and by mean."""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from trimtab.bench.names import Identity, counted, identity, short_labels
from trimtab.bench.result import RunResult
from trimtab.bench.submission import Submission
from trimtab.report.board.gate import Agreement, agreement
from trimtab.report.board.streams import BoardStream
from trimtab.report.metrics import ERROR, Metric
from trimtab.report.settings import SOURCE, Setting
from trimtab.report.table import Cell, change_against_source


@dataclass(frozen=True)
class Entry:
    """A method in a submission, which has a run on every stream of the board.

    Args:
        file: The submission's name.
        by: Who submitted it.
        label: The method, short.
        cells: The runs of all seeds, by setting.
    """

    file: str
    by: str
    label: str
    cells: Mapping[Setting, Cell]

    @property
    def changes(self) -> dict[Setting, float]:
        """Points of error above the source model's on the same samples, by setting."""
        found = {place: change_against_source(cell) for place, cell in self.cells.items()}
        return {place: change for place, change in found.items() if change is not None}

    @property
    def worst(self) -> Setting:
        """The setting with the largest change."""
        changes = self.changes
        return max(changes, key=lambda place: changes[place])

    @property
    def worst_change(self) -> float:
        """The largest change, to one decimal, as it is shown and ranked."""
        return round(self.changes[self.worst], 1) + 0.0

    @property
    def mean_error(self) -> float:
        """The mean over settings of the mean over seeds, in %, to one decimal."""
        return round(self.mean(ERROR) or 0.0, 1)

    def mean(self, metric: Metric) -> float | None:
        """The mean of a number over settings; None where one has none."""
        values = [cell.mean(metric) for cell in self.cells.values()]
        known = [value for value in values if value is not None]
        return statistics.fmean(known) if len(known) == len(values) else None

    @property
    def harmed(self) -> int:
        """Settings in which it is worse than no adaptation, to one decimal."""
        return sum(round(change, 1) > 0 for change in self.changes.values())


@dataclass(frozen=True)
class Refusal:
    """What is not on the board: a file, or a method of it, and why."""

    file: str
    what: str
    why: str


@dataclass(frozen=True)
class Board:
    """Entries in order of their worst setting, then of their mean; and what was refused.

    Args:
        streams: Those that every entry has.
        entries: The best first.
        refusals: What does not compare.
        tolerance: Points by which the source model's error may differ.
        source: The source model's error in % by setting, as most say, mean over seeds.
    """

    streams: tuple[BoardStream, ...]
    entries: tuple[Entry, ...]
    refusals: tuple[Refusal, ...]
    tolerance: float
    source: Mapping[Setting, float]

    @property
    def places(self) -> tuple[Setting, ...]:
        """Settings of the board, in order."""
        return tuple(dict.fromkeys(stream.place for stream in self.streams))

    def rank_by_worst(self, entry: Entry) -> int:
        """One more than there are entries with a smaller worst change."""
        return 1 + sum(other.worst_change < entry.worst_change for other in self.entries)

    def rank_by_mean(self, entry: Entry) -> int:
        """One more than there are entries with a smaller mean error."""
        return 1 + sum(other.mean_error < entry.mean_error for other in self.entries)


def board(
    submissions: Mapping[str, Submission],
    streams: tuple[BoardStream, ...],
    tolerance: float,
    reference: Sequence[RunResult] = (),
    refused: Iterable[Refusal] = (),
) -> Board:
    """The leaderboard of these submissions on these streams.

    Args:
        submissions: By the names of their files.
        streams: Every entry has a run on each of them.
        tolerance: Points by which the source model's error may differ between machines.
        reference: Runs that decide what the streams are; without them most submissions decide.
        refused: What could not even be read.
    """
    everybody = [submission.results for submission in submissions.values()]
    agreed = agreement(everybody, streams, tolerance, reference)
    entries: list[Entry] = []
    refusals = list(refused)
    labels = short_labels(run.spec for runs in everybody for run in runs)
    for file, submission in submissions.items():
        for key, runs in _by_method(submission.results, streams).items():
            label = labels[key]
            why = _objection(runs, streams, agreed)
            if why is None and key != SOURCE:
                entries.append(Entry(file, submission.by, label, _cells(runs)))
            elif why is not None:
                refusals.append(Refusal(file, label, why))
        if not any(BoardStream.of(run.spec) in streams for run in submission.results):
            refusals.append(Refusal(file, "all of it", _of_no_stream(submission, streams)))
    entries.sort(key=lambda entry: (entry.worst_change, entry.mean_error, entry.label, entry.file))
    return Board(streams, tuple(entries), tuple(refusals), tolerance, _source(agreed))


def _source(agreed: Agreement) -> dict[Setting, float]:
    errors: dict[Setting, list[float]] = defaultdict(list)
    for stream, facts in agreed.facts.items():
        errors[stream.place].append(facts.source_error)
    return {place: statistics.fmean(found) for place, found in errors.items()}


def _by_method(
    runs: Iterable[RunResult], streams: tuple[BoardStream, ...]
) -> dict[Identity, list[RunResult]]:
    known = set(streams)
    found: dict[Identity, list[RunResult]] = defaultdict(list)
    for run in runs:
        if BoardStream.of(run.spec) in known:
            found[identity(run.spec)].append(run)
    return found


def _objection(
    runs: Sequence[RunResult], streams: tuple[BoardStream, ...], agreed: Agreement
) -> str | None:
    seen = {BoardStream.of(run.spec) for run in runs}
    missing = [stream for stream in streams if stream not in seen]
    if missing:
        return (
            f"no run on {len(missing)} of the board's {counted(len(streams), 'stream')}: "
            f"{missing[0]}{' ...' if len(missing) > 1 else ''}"
        )
    return next((why for run in runs if (why := agreed.objection(run)) is not None), None)


def _of_no_stream(submission: Submission, streams: tuple[BoardStream, ...]) -> str:
    theirs = BoardStream.of(submission.results[0].spec)
    return f"none of its runs is of a stream of the board: {theirs} and not, say, {streams[0]}"


def _cells(runs: Iterable[RunResult]) -> dict[Setting, Cell]:
    found: dict[Setting, list[RunResult]] = defaultdict(list)
    for run in runs:
        found[BoardStream.of(run.spec).place].append(run)
    return {
        place: Cell(tuple(sorted(group, key=lambda run: run.spec.seed)))
        for place, group in found.items()
    }
