"""Error against cost."""

import statistics
from collections.abc import Mapping

from trimtab.report.markup import Markup, element, together
from trimtab.report.metrics import COST, ERROR, Metric
from trimtab.report.plots.marks import Mark
from trimtab.report.plots.scatter import Place, scatter
from trimtab.report.sections.layout import section, with_headings
from trimtab.report.sections.panels import panel, panels
from trimtab.report.settings import Row, Setting
from trimtab.report.table import Cell, Table, complete_rows


def cost(tables: list[Table], marks: Mapping[Row, Mark]) -> Markup | None:
    """The section; None if no run has a cost."""

    def draw(table: Table, setting: Setting) -> Markup | None:
        points = {
            row: place
            for row, cell in table.column(setting).items()
            if (place := _place([cell])) is not None
        }
        return scatter(points, marks) if points else None

    content = panels(tables, draw)
    if not content:
        return None
    return section(
        "cost",
        "Error against cost",
        "Down and to the left is better. Cost is the time of a batch as a multiple of the source "
        "model's plain forward, measured in turns in the same run; the dotted line joins the "
        "methods that no other beats in both.",
        with_headings(tables, [_overview(table, marks) for table in tables]),
        content,
    )


def _overview(table: Table, marks: Mapping[Row, Mark]) -> Markup | None:
    """The means over all settings, of the methods that have them all."""
    if len(table.settings) == 1:
        return None
    points = {
        row: place
        for row in complete_rows(table, ERROR)
        if (place := _place([table.cells[row, setting] for setting in table.settings])) is not None
    }
    if len(points) < 2:
        return None
    title = f"Mean over all {len(table.settings)} settings"
    return element("div", panel(title, together(scatter(points, marks))), class_="panels overview")


def _place(cells: list[Cell]) -> Place | None:
    multiples, errors = _means(cells, COST), _means(cells, ERROR)
    if len(multiples) < len(cells) or len(errors) < len(cells) or min(multiples) <= 0:
        return None
    return statistics.fmean(multiples), statistics.fmean(errors)


def _means(cells: list[Cell], metric: Metric) -> list[float]:
    return [mean for cell in cells if (mean := cell.mean(metric)) is not None]
