"""Calibration: whether a method knows how sure it may be."""

from collections.abc import Mapping

from trimtab.report.markup import Markup, element, shortened, together
from trimtab.report.method_cards import flattens_confidence
from trimtab.report.metrics import ECE, NLL, Metric
from trimtab.report.plots.marks import Mark
from trimtab.report.plots.reliability import pooled_bins, reliability
from trimtab.report.sections.layout import section
from trimtab.report.sections.panels import panels
from trimtab.report.settings import Row, Setting
from trimtab.report.table import Cell, Table

FLATTENED = (
    " ROID's prior correction in the form of logits, behind the published numbers, flattens "
    "confidence: a large calibration error is expected of it, and prior=posterior avoids it."
)


def calibration(tables: list[Table], marks: Mapping[Row, Mark]) -> Markup | None:
    """The section; None without reliability bins."""

    def draw(table: Table, setting: Setting) -> Markup | None:
        column = table.column(setting)
        bins = {row: found for row, cell in column.items() if (found := pooled_bins(cell))}
        if not bins:
            return None
        return together(reliability(bins, marks), _numbers(column, marks))

    content = panels(tables, draw)
    if not content:
        return None
    return section(
        "calibration",
        "Calibration",
        "How often predictions are right, by how sure they are; large points hold many samples. "
        "Below the diagonal a method is too sure of itself, above it too shy. ECE is the mean "
        "distance to the diagonal in %, NLL the negative log likelihood in nats."
        + (
            FLATTENED
            if any(flattens_confidence(row) for table in tables for row in table.rows)
            else ""
        ),
        content,
    )


def _numbers(column: Mapping[Row, Cell], marks: Mapping[Row, Mark]) -> Markup:
    head = element("tr", *(element("th", word, scope="col") for word in ("", "ECE", "NLL")))
    rows = [
        element(
            "tr",
            element(
                "th",
                element("i", class_=f"swatch {marks[row].colour}"),
                shortened(row.label, 34),
                scope="row",
                title=row.label,
            ),
            element("td", _mean(cell, ECE)),
            element("td", _mean(cell, NLL)),
            data_method=marks[row].name,
        )
        for row, cell in column.items()
    ]
    return element("table", element("thead", head), element("tbody", *rows), class_="small")


def _mean(cell: Cell, metric: Metric) -> str:
    mean = cell.mean(metric)
    return "–" if mean is None else metric.show(mean)
