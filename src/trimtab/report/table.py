"""Tables: methods by settings, a cell being the runs of several seeds."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from trimtab.bench.names import Identity, short_labels
from trimtab.bench.result import RunResult
from trimtab.report.averages import mean, spread
from trimtab.report.metrics import ERROR, Metric, metrics_of
from trimtab.report.settings import Row, RunProtocol, Setting, Subject


@dataclass(frozen=True)
class Cell:
    """The runs of one method in one setting, in order of their seeds."""

    runs: tuple[RunResult, ...]

    @property
    def done(self) -> tuple[RunResult, ...]:
        """Runs with scores."""
        return tuple(run for run in self.runs if run.scores is not None)

    @property
    def failed(self) -> tuple[RunResult, ...]:
        """Runs without scores."""
        return tuple(run for run in self.runs if run.scores is None)

    @property
    def seeds(self) -> tuple[int, ...]:
        """Seeds that the numbers are made of."""
        return tuple(run.spec.seed for run in self.done)

    @property
    def collapsed(self) -> int:
        """How many of the runs collapsed."""
        return sum(run.scores is not None and run.scores.collapsed for run in self.runs)

    def values(self, metric: Metric) -> list[float]:
        """One number a seed."""
        read = [metric.read(run) for run in self.done]
        return [value for value in read if value is not None]

    def mean(self, metric: Metric) -> float | None:
        """The mean over seeds, None if there is none."""
        return mean(self.values(metric))

    def spread(self, metric: Metric) -> float | None:
        """The standard deviation over seeds (of a sample: n - 1), None below two seeds."""
        return spread(self.values(metric))


@dataclass(frozen=True, eq=False)
class Table:
    """Methods by settings, under one protocol."""

    protocol: RunProtocol
    rows: tuple[Row, ...]
    settings: tuple[Setting, ...]
    cells: Mapping[tuple[Row, Setting], Cell]

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        """The seeds that most cells have; of equally frequent ones the larger set."""
        counts = Counter(cell.seeds for cell in self.cells.values() if cell.seeds)
        return max(counts, key=lambda seeds: (counts[seeds], len(seeds), seeds), default=())

    @cached_property
    def subjects(self) -> dict[Subject, list[Setting]]:
        """Settings by model and data, in the order of the columns."""
        found: dict[Subject, list[Setting]] = defaultdict(list)
        for setting in self.settings:
            found[setting.subject].append(setting)
        return dict(found)

    @cached_property
    def several_weights(self) -> frozenset[str]:
        """Models that are here with more than one set of weights."""
        counts = Counter((subject.data, subject.model) for subject in self.subjects)
        return frozenset(model for (_, model), count in counts.items() if count > 1)

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """The numbers that its runs have."""
        return metrics_of(run for cell in self.cells.values() for run in cell.done)

    def cell(self, row: Row, setting: Setting) -> Cell | None:
        """The cell, None if nothing was run there."""
        return self.cells.get((row, setting))

    def column(self, setting: Setting) -> dict[Row, Cell]:
        """Cells of a setting that have numbers, by method."""
        cells = {row: self.cell(row, setting) for row in self.rows}
        return {row: cell for row, cell in cells.items() if cell is not None and cell.done}

    def source(self, setting: Setting) -> Cell | None:
        """The source model's own cell."""
        found = (cell for row, cell in self.column(setting).items() if row.is_source)
        return next(found, None)


def tables(results: Iterable[RunResult]) -> list[Table]:
    """One table for each protocol, the largest first."""
    results = list(results)
    labels = short_labels(result.spec for result in results)
    groups: dict[RunProtocol, list[RunResult]] = defaultdict(list)
    for result in results:
        groups[RunProtocol.of(result.spec)].append(result)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), str(item[0])))
    return [_table(protocol, runs, labels) for protocol, runs in ordered]


def _table(
    protocol: RunProtocol, results: list[RunResult], labels: Mapping[Identity, str]
) -> Table:
    groups: dict[tuple[Row, Setting], list[RunResult]] = defaultdict(list)
    for result in results:
        groups[Row.of(result.spec, labels), Setting.of(result.spec)].append(result)
    cells = {
        key: Cell(tuple(sorted(runs, key=lambda run: run.spec.seed)))
        for key, runs in groups.items()
    }
    settings = sorted({setting for _, setting in cells}, key=lambda setting: setting.order)
    return Table(protocol, _ordered_rows(cells), tuple(settings), cells)


def _ordered_rows(cells: Mapping[tuple[Row, Setting], Cell]) -> tuple[Row, ...]:
    """The source first, then the lowest mean change against it; without numbers last."""
    changes: dict[Row, list[float]] = {row: [] for row, _ in cells}
    for (row, _), cell in cells.items():
        change = change_against_source(cell)
        if change is not None:
            changes[row].append(change)

    def rank(row: Row) -> tuple[bool, bool, float, str]:
        known = changes[row]
        return (not row.is_source, not known, mean(known) or 0.0, row.identity)

    return tuple(sorted(changes, key=rank))


def change_against_source(cell: Cell) -> float | None:
    """Error minus the source model's error on the same samples, in points; None without runs."""
    return mean(
        100 * (run.scores.error - run.scores.source_error)
        for run in cell.done
        if run.scores is not None
    )


def complete_rows(table: Table, metric: Metric = ERROR) -> list[Row]:
    """Methods that have the number in every setting of the table."""
    cells = table.cells
    return [
        row
        for row in table.rows
        if all(
            (row, setting) in cells and cells[row, setting].values(metric)
            for setting in table.settings
        )
    ]
