"""Error, and the distance of predicted from true classes, along the stream."""

from collections.abc import Mapping

from trimtab.report.domain_spans import Span, domain_spans
from trimtab.report.markup import Markup
from trimtab.report.metrics import ERROR, TVD, Metric
from trimtab.report.plots.curves import Curve, curves, mean_curve
from trimtab.report.plots.marks import Mark
from trimtab.report.plots.scale import span
from trimtab.report.sections.layout import section
from trimtab.report.sections.panels import panels
from trimtab.report.settings import Row, Setting, Subject
from trimtab.report.table import Table

TEXTS = {
    ERROR: (
        "stream",
        "Error along the stream",
        "The error of each of up to 60 stretches of at least 50 samples, mean over seeds; "
        "where domains follow each other, bands show them. A line that climbs is a method that "
        "loses its footing. Point at a plot for its numbers, tap a name above to see it alone.",
    ),
    TVD: (
        "classes",
        "Predicted against true classes",
        "Total variation distance (TVD) between the classes predicted and those that were there, "
        "stretch by stretch: 0 % is the right mixture, 100 % shares nothing with it. "
        "A method that collapses climbs towards 100 %.",
    ),
}


def along_stream(tables: list[Table], marks: Mapping[Row, Mark], metric: Metric) -> Markup | None:
    """The section for the error or for the TVD; None without curves."""
    limits = {
        (table, subject): _limits(table, subject, metric)
        for table in tables
        for subject in table.subjects
    }

    def draw(table: Table, setting: Setting) -> Markup | None:
        drawn = _drawn(table, setting, metric)
        if not drawn:
            return None
        spans = _shared_spans(table, setting)
        return curves(drawn, marks, metric, limits[table, setting.subject], spans)

    content = panels(tables, draw)
    return section(*TEXTS[metric], content) if content else None


def _drawn(table: Table, setting: Setting, metric: Metric) -> dict[Row, Curve]:
    found = {row: mean_curve(cell, metric) for row, cell in table.column(setting).items()}
    return {row: curve for row, curve in found.items() if curve}


def _shared_spans(table: Table, setting: Setting) -> list[Span]:
    """Where domains begin and end, if that is so for all methods of the setting."""
    found = [domain_spans(cell) for cell in table.column(setting).values()]
    return found[0] if found and all(spans == found[0] for spans in found) else []


def _limits(table: Table, subject: Subject, metric: Metric) -> tuple[float, float]:
    """One range for all panels of a group, so that they can be compared."""
    values = [
        value
        for setting in table.subjects[subject]
        for curve in _drawn(table, setting, metric).values()
        for _, value in curve
    ]
    low, high = span(values, least=5.0)
    return max(0.0, low), min(100.0, high)
