"""What a cell says: its number, and the marks that belong to it."""

import statistics
from dataclasses import dataclass

from trimtab.report.method_cards import flattens_confidence
from trimtab.report.metrics import ECE, ERROR, NLL, SOURCE_ERROR, Metric
from trimtab.report.published import published_error
from trimtab.report.settings import Row, Setting
from trimtab.report.table import Cell, Table, complete_rows

WORSE, OTHER_SEEDS, COLLAPSED, FAILED, EXPECTED = "▲", "*", "∅", "✕", "†"
"""Marks behind a number, so that nothing depends on colour."""

MEANINGS = {
    WORSE: "worse than the source model",
    OTHER_SEEDS: "other seeds than most cells",
    COLLAPSED: "collapsed on a seed: it ends up predicting few classes for most images",
    FAILED: "failed on at least one seed",
    EXPECTED: "expected: ROID's correction in the form of logits flattens confidence",
}


@dataclass(frozen=True)
class Reading:
    """A number of a table, as it is shown.

    Args:
        text: The mean over seeds, rounded; empty if there is none.
        spread: The standard deviation over seeds, rounded; empty below two seeds.
        best: Whether no shown number of the column is better.
        worse: Whether the shown number is worse than the source model's.
        other_seeds: Whether the seeds are not those of most cells.
        collapsed: How many runs collapsed.
        failed: How many runs failed.
        expected: Whether a large calibration error is no surprise here.
        paper: The published number for the same images, network and method, if there is one.
    """

    text: str
    spread: str = ""
    best: bool = False
    worse: bool = False
    other_seeds: bool = False
    collapsed: int = 0
    failed: int = 0
    expected: bool = False
    paper: str = ""

    @property
    def marks(self) -> str:
        """The signs behind the number."""
        shown = {
            WORSE: self.worse,
            OTHER_SEEDS: self.other_seeds,
            COLLAPSED: self.collapsed > 0,
            FAILED: self.failed > 0,
            EXPECTED: self.expected,
        }
        return "".join(mark for mark, holds in shown.items() if holds)


def readings(table: Table, metric: Metric) -> dict[tuple[Row, Setting], Reading]:
    """A reading for each cell of the table."""
    return {
        (row, setting): _reading(table, row, setting, cell, metric, lowest)
        for setting in table.settings
        for lowest in [_lowest(table.column(setting), metric)]
        for row in table.rows
        if (cell := table.cell(row, setting)) is not None
        and (not cell.done or cell.mean(metric) is not None)
    }


def mean_readings(table: Table, metric: Metric) -> dict[Row, Reading]:
    """The mean over all settings, for methods that have them all; the seeds as in the cells."""
    means = {row: _mean_over_settings(table, row, metric) for row in complete_rows(table, metric)}
    shown = {row: metric.show(value) for row, value in means.items()}
    bad = {row: metric.badness(float(text)) for row, text in shown.items()}
    lowest = min(bad.values(), default=0.0) if len(shown) > 1 else None
    source = next((value for row, value in bad.items() if row.is_source), None)
    return {
        row: Reading(
            text,
            best=bad[row] == lowest,
            worse=metric.judged and source is not None and bad[row] > source,
            other_seeds=any(
                table.cells[row, setting].seeds != table.seeds for setting in table.settings
            ),
        )
        for row, text in shown.items()
    }


def _mean_over_settings(table: Table, row: Row, metric: Metric) -> float:
    values = [table.cells[row, setting].mean(metric) for setting in table.settings]
    return statistics.fmean(value for value in values if value is not None)


def _lowest(column: dict[Row, Cell], metric: Metric) -> float | None:
    """The best number as shown, by its badness, None where there is nothing to compare."""
    means = [mean for cell in column.values() if (mean := cell.mean(metric)) is not None]
    shown = [metric.badness(float(metric.show(mean))) for mean in means]
    return min(shown) if len(shown) > 1 else None


def _reading(
    table: Table, row: Row, setting: Setting, cell: Cell, metric: Metric, lowest: float | None
) -> Reading:
    mean, spread = cell.mean(metric), cell.spread(metric)
    if mean is None:
        return Reading("", failed=len(cell.failed), collapsed=cell.collapsed)
    # The marks follow the rounded numbers: what reads as equal is treated as equal.
    shown = metric.badness(float(metric.show(mean)))
    source = _source(table, setting, cell, metric)
    return Reading(
        text=metric.show(mean),
        spread="" if spread is None else metric.show(spread),
        best=shown == lowest,
        worse=not row.is_source
        and source is not None
        and shown > metric.badness(float(metric.show(source))),
        other_seeds=cell.seeds != table.seeds,
        collapsed=cell.collapsed,
        failed=len(cell.failed),
        expected=metric in (ECE, NLL) and flattens_confidence(row),
        paper=_paper(cell, metric),
    )


def _paper(cell: Cell, metric: Metric) -> str:
    found = {published_error(run, metric) for run in cell.done}
    return ", ".join(metric.show(value) for value in found if value is not None)


def _source(table: Table, setting: Setting, cell: Cell, metric: Metric) -> float | None:
    """What the source model has: on the same samples for the error, else from its own cell."""
    if not metric.judged:
        return None
    if metric is ERROR:
        return cell.mean(SOURCE_ERROR)
    source = table.source(setting)
    if source is None:
        return None
    same_seeds = Cell(tuple(run for run in source.done if run.spec.seed in cell.seeds))
    return same_seeds.mean(metric)
