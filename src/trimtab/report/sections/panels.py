"""Small plots side by side: one a setting, as many in a row as there is room for."""

from collections.abc import Callable

from trimtab.report.markup import Child, Markup, breakable, element, together
from trimtab.report.sections.layout import subject_name, with_headings
from trimtab.report.settings import Setting, Subject
from trimtab.report.table import Table

Draw = Callable[[Table, Setting], Markup | None]

MANY = 12
"""With more panels than this, groups of one model and data are folded, but for the first ones."""


def panels(tables: list[Table], draw: Draw, kind: str = "panels") -> Markup:
    """A panel for each setting for which ``draw`` returns something."""
    parts = []
    room = MANY
    for table in tables:
        open_panels: list[Markup] = []
        folded: list[Markup] = []
        for subject, settings in table.subjects.items():
            drawn = _drawn(table, subject, settings, draw)
            if len(drawn) <= room or (drawn and room == MANY):
                open_panels += drawn
                room = max(0, room - len(drawn))
            elif drawn:
                folded.append(_group(subject_name(table, subject), drawn, kind))
        shown = element("div", *open_panels, class_=kind) if open_panels else None
        parts.append(together(shown, *folded) if shown or folded else None)
    return with_headings(tables, parts)


def panel(title: Child, content: Markup, where: str | None = None) -> Markup:
    """One plot with its title above, and the words ``where`` under it."""
    place = element("span", where, class_="caption") if where else None
    return element("figure", element("figcaption", title, place), content, class_="panel")


def _drawn(table: Table, subject: Subject, settings: list[Setting], draw: Draw) -> list[Markup]:
    where = subject_name(table, subject)
    return [
        panel(breakable(setting.title), content, where)
        for setting in settings
        if (content := draw(table, setting)) is not None
    ]


def _group(title: str, drawn: list[Markup], kind: str) -> Markup:
    return element(
        "details",
        element("summary", title),
        element("div", *drawn, class_=kind),
        class_="group",
    )
