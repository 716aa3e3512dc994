"""Ranking by the worst setting: what a method may cost where nobody looks."""

from collections.abc import Mapping

from trimtab.report.markup import Markup, element
from trimtab.report.plots.marks import Mark
from trimtab.report.plots.scale import Scale
from trimtab.report.plots.strip import strip, strip_axis, strip_scale
from trimtab.report.ranking import Standing, ranking
from trimtab.report.sections.layout import scrolling, section, setting_name, with_headings
from trimtab.report.sections.methods import method_link
from trimtab.report.settings import Row
from trimtab.report.table import Table


def worst_settings(tables: list[Table], marks: Mapping[Row, Mark]) -> Markup | None:
    """The section, None if there is no method but the source."""
    parts = [_one(table, marks) for table in tables]
    if not any(parts):
        return None
    return section(
        "worst",
        "Worst setting",
        "Methods in order of the setting in which they do worst: how much the error changes "
        "against the source model on the same samples, in points. Each dot is a setting; dots "
        "right of the line are worse than no adaptation at all.",
        with_headings(tables, parts),
    )


def _one(table: Table, marks: Mapping[Row, Mark]) -> Markup | None:
    standings = ranking(table)
    if not standings:
        return None
    scale = strip_scale(standings)
    head = element(
        "tr",
        element("th", "#", scope="col"),
        element("th", "Method", scope="col", class_="method"),
        element("th", "Worst", scope="col"),
        element("th", "Mean", scope="col"),
        element("th", "Worse than source", scope="col"),
        element("th", strip_axis(scale), scope="col", class_="chart", data_unsorted=True),
        element("th", "Worst in", scope="col", class_="words"),
    )
    body = [
        _row(table, place, standing, marks[standing.row], scale)
        for place, standing in enumerate(standings, start=1)
    ]
    content = element(
        "table",
        element("thead", head),
        element("tbody", *body),
        class_="results roomy",
        data_sortable=True,
    )
    return scrolling(content, "Ranking by worst setting")


def _row(table: Table, place: int, standing: Standing, mark: Mark, scale: Scale) -> Markup:
    worst = standing.changes[standing.worst]
    tried = f"{standing.harmed} of {len(standing.changes)}"
    if len(standing.changes) < len(table.settings):
        tried += f" (not run in {len(table.settings) - len(standing.changes)})"
    return element(
        "tr",
        element("td", str(place)),
        element("th", method_link(standing.row), scope="row", class_="method"),
        element("td", _change(worst)),
        element("td", _change(standing.mean)),
        element("td", tried),
        element("td", strip(standing, mark, scale), class_="chart"),
        element("td", setting_name(table, standing.worst), class_="words"),
    )


def _change(points: float) -> Markup:
    shown = round(points, 1) + 0.0  # adding 0 turns -0.0 into 0.0
    words = f"{shown:+.1f}".replace("-", "−")  # as wide as a plus
    sign = element("sup", "▲") if shown > 0 else None
    return element("span", words, sign, class_="number bad" if shown > 0 else "number")
