"""Small plots side by side: one a setting, grouped by model and data."""

from collections.abc import Callable

from trimtab.report.markup import Child, Markup, breakable, element, together
from trimtab.report.sections.layout import subject_name, with_headings
from trimtab.report.settings import Setting, Subject
from trimtab.report.table import Table

Draw = Callable[[Table, Setting], Markup | None]
FEW = 3
"""Up to this many panels of a group are drawn larger."""

MANY = 8
"""With more panels than this, all groups but the first are folded."""


def panels(tables: list[Table], draw: Draw, kind: str = "panels") -> Markup:
    """A panel for each setting for which ``draw`` returns something."""
    count = sum(len(table.settings) for table in tables)
    parts = []
    for position, table in enumerate(tables):
        groups = [
            _group(table, subject, settings, draw, kind, folded=count > MANY and bool(position + i))
            for i, (subject, settings) in enumerate(table.subjects.items())
        ]
        drawn = [group for group in groups if group is not None]
        parts.append(together(*drawn) if drawn else None)
    return with_headings(tables, parts)


def panel(title: Child, content: Markup) -> Markup:
    """One plot with its title above."""
    return element("figure", element("figcaption", title), content, class_="panel")


def _group(
    table: Table, subject: Subject, settings: list[Setting], draw: Draw, kind: str, *, folded: bool
) -> Markup | None:
    drawn = [
        panel(breakable(setting.title), content)
        for setting in settings
        if (content := draw(table, setting)) is not None
    ]
    if not drawn:
        return None
    return element(
        "details",
        element("summary", subject_name(table, subject)),
        element("div", *drawn, class_=kind if len(drawn) > FEW else f"{kind} few"),
        class_="group",
        open=not folded,
    )
