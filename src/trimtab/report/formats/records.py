"""The cells of all tables as plain values: what the formats for programs are made of."""

from typing import Any

from trimtab.report.comparison import Change
from trimtab.report.metrics import DOMAIN_ERROR, ERROR, SOURCE_ERROR, Metric
from trimtab.report.reading import Reading, readings
from trimtab.report.table import Table


def records(tables: list[Table]) -> list[dict[str, Any]]:
    """One record a cell. Shares in %, ``_spread`` is the standard deviation over seeds."""
    shown = {metric.name: metric for table in tables for metric in table.metrics}
    return [record for table in tables for record in _of_table(table, list(shown.values()))]


def _of_table(table: Table, metrics: list[Metric]) -> list[dict[str, Any]]:
    found = []
    by_samples, by_domains = readings(table, ERROR), readings(table, DOMAIN_ERROR)
    for (row, setting), reading in by_samples.items():
        cell = table.cells[row, setting]
        numbers: dict[str, Any] = {"source_error": cell.mean(SOURCE_ERROR)}
        for metric in metrics:
            numbers[metric.name] = cell.mean(metric)
            numbers[f"{metric.name}_spread"] = cell.spread(metric)
        found.append(
            {
                "method": cell.runs[0].spec.method,
                "options": dict(cell.runs[0].spec.options),
                "data": setting.data,
                "model": setting.model,
                "weights": setting.weights,
                "scenario": setting.scenario,
                "severity": table.protocol.severity,
                "images_per_domain": table.protocol.images_per_domain,
                "batch_size": table.protocol.batch_size,
                "window": table.protocol.window,
                "seeds": list(cell.seeds),
                **numbers,
                "paper_error": _paper(reading, by_domains[row, setting]),
                "best": reading.best,
                "best_by_domain": by_domains[row, setting].best,
                "worse_than_source": reading.worse,
                "other_seeds": reading.other_seeds,
                "failed": reading.failed,
                "collapsed": reading.collapsed,
                "commands": [run.spec.command for run in cell.runs],
            }
        )
    return found


def _paper(*readings: Reading) -> float | None:
    """The published error in %, of whichever average the paper states."""
    return next((float(reading.paper) for reading in readings if reading.paper), None)


def change_record(change: Change) -> dict[str, Any]:
    """One record a cell that two stores have. Errors in %, the difference in points."""
    return {
        "method": change.pairs[0][1].spec.label,
        "data": change.setting.data,
        "model": change.setting.model,
        "weights": change.setting.weights,
        "scenario": change.setting.scenario,
        "severity": change.protocol.severity,
        "images_per_domain": change.protocol.images_per_domain,
        "batch_size": change.protocol.batch_size,
        "window": change.protocol.window,
        "seeds": [later.spec.seed for _, later in change.pairs],
        "before": change.before,
        "after": change.after,
        "difference": change.difference,
        "newly_failed": change.newly_failed,
        "other_weights": change.other_weights,
        "worse": change.worse,
    }
