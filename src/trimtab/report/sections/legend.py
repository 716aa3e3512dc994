"""Which mark is which method; a tap on one leaves the others pale, in every plot."""

from collections.abc import Mapping

from trimtab.report.markup import Markup, element, shortened
from trimtab.report.plots.marks import Mark
from trimtab.report.settings import Row


def legend(marks: Mapping[Row, Mark]) -> Markup:
    """A line of buttons, one a method."""
    ordered = sorted(marks, key=lambda row: not row.is_source)
    return element(
        "div",
        *(_entry(row, marks[row]) for row in ordered),
        class_="legend",
        role="group",
        aria_label="Methods",
    )


def _entry(row: Row, mark: Mark) -> Markup:
    key = element(
        "svg",
        mark.line([(1, 7), (27, 7)]),
        mark.point(14, 7, 4),
        viewbox="0 0 28 14",
        aria_hidden="true",
    )
    return element(
        "button",
        key,
        element("span", shortened(row.label, 44)),
        type="button",
        title=row.label,
        aria_pressed="false",
        data_focus=mark.name,
    )
