"""How often a method is right when it says how sure it is."""

import math
from collections.abc import Mapping

from trimtab.bench.result import ConfidenceBin
from trimtab.report.markup import Markup, element
from trimtab.report.plots.frame import across, plot, upward
from trimtab.report.plots.marks import Mark
from trimtab.report.settings import Row
from trimtab.report.table import Cell

LEAST_SHARE = 0.002
"""Bins with a smaller share of the samples say nothing but noise."""


def pooled_bins(cell: Cell) -> list[ConfidenceBin]:
    """The bins of all seeds together, without those that hold next to nothing."""
    runs = [run.scores.reliability for run in cell.done if run.scores is not None]
    pooled = [_pool(list(column)) for column in zip(*runs, strict=False)]
    total = sum(entry.samples for entry in pooled)
    return [entry for entry in pooled if entry.samples > LEAST_SHARE * total]


def reliability(drawn: Mapping[Row, list[ConfidenceBin]], marks: Mapping[Row, Mark]) -> Markup:
    """A reliability diagram; on the diagonal a method is as sure as it is right."""
    x, y = across("confidence in %", 0, 100), upward("right in %", 0, 100)
    diagonal = element(
        "line",
        class_="diagonal",
        x1=x.scale(0),
        x2=x.scale(100),
        y1=y.scale(0),
        y2=y.scale(100),
    )
    lines = []
    for row, bins in drawn.items():
        mark, total = marks[row], sum(samples for samples, _, _ in bins)
        places = [(x.scale(100 * sure), y.scale(100 * right)) for _, sure, right in bins]
        points = [
            mark.point(*place, 1.5 + 5 * math.sqrt(samples / total), element("title", hint))
            for place, (samples, sure, right) in zip(places, bins, strict=True)
            for hint in [
                f"{row.label}: {samples:,} samples, "
                f"{100 * sure:.0f} % sure, {100 * right:.0f} % right"
            ]
        ]
        lines.append(element("g", mark.line(places), *points, data_method=mark.name))
    return plot("Reliability diagram", x, y, diagonal, *lines)


def _pool(bins: list[ConfidenceBin]) -> ConfidenceBin:
    total = sum(entry.samples for entry in bins)
    if total == 0:
        return ConfidenceBin(0, 0.0, 0.0)
    sure = sum(entry.samples * entry.confidence for entry in bins) / total
    return ConfidenceBin(total, sure, sum(entry.samples * entry.right for entry in bins) / total)
