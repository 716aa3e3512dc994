"""Runs that failed or collapsed, by name."""

from trimtab.bench.names import identity
from trimtab.bench.result import RunResult
from trimtab.report.markup import Markup, element
from trimtab.report.sections.layout import section, setting_name
from trimtab.report.sections.runs import run_details
from trimtab.report.settings import Setting
from trimtab.report.table import Table


def troubles(tables: list[Table]) -> Markup:
    """The section; it also says so if there is nothing to tell."""
    found = [(table, run) for table in tables for cell in table.cells.values() for run in cell.runs]
    failed = [entry for entry in found if entry[1].scores is None]
    collapsed = [
        entry for entry in found if entry[1].scores is not None and entry[1].scores.collapsed
    ]
    return section(
        "troubles",
        "Failed and collapsed runs",
        "A failed run has no number and is in no mean. A run counts as collapsed if more than half "
        "of its predictions in the last tenth of the stream would have to change class for the "
        "classes to come out as they were; its number is in the tables all the same.",
        _kind("Failed", failed),
        _kind("Collapsed", collapsed),
    )


def _kind(title: str, entries: list[tuple[Table, RunResult]]) -> Markup:
    if not entries:
        return element("p", f"{title}: none.", class_="none")
    return element(
        "details",
        element("summary", f"{title}: {len(entries):,}"),
        *(_entry(table, run) for table, run in entries),
        class_="group",
        open=len(entries) <= 6,
    )


def _entry(table: Table, run: RunResult) -> Markup:
    [name] = [row.label for row in table.rows if row.identity == identity(run.spec)]
    where = f"{setting_name(table, Setting.of(run.spec))} · {table.protocol}"
    return element(
        "article",
        element("h4", name),
        element("p", where, class_="where"),
        run_details(run),
    )
