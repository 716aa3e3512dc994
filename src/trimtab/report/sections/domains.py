"""Errors by domain."""

from trimtab.report.markup import Markup
from trimtab.report.plots.heat_map import domain_errors, heat_map
from trimtab.report.sections.layout import scrolling, section
from trimtab.report.sections.panels import panels
from trimtab.report.settings import Setting
from trimtab.report.table import Table


def domains(tables: list[Table]) -> Markup | None:
    """The section; None without domains."""
    content = panels(tables, _draw, kind="panels wide")
    if not content:
        return None
    return section(
        "domains",
        "Error by domain",
        "Numbers are errors in %, domains in the order of the stream (of the first seed). Blue is "
        "lower than the source model in that domain, orange higher; the strongest colour is a "
        "change of 30 points.",
        content,
    )


def _draw(table: Table, setting: Setting) -> Markup | None:
    errors = {row: domain_errors(cell) for row, cell in table.column(setting).items()}
    names = list(dict.fromkeys(name for found in errors.values() for name in found))
    return scrolling(heat_map(errors, names), "Error by domain") if names else None
