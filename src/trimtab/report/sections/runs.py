"""Every cell's runs, with the commands that do them again."""

from trimtab.bench.result import RunResult
from trimtab.report.markup import Markup, element
from trimtab.report.metrics import COST, DOMAIN_ERROR, ECE, ERROR, NLL, TVD, Metric
from trimtab.report.sections.layout import row_filter, section, setting_name
from trimtab.report.settings import Row, Setting
from trimtab.report.table import Cell, Table


def cell_anchor(table: Table, number: int, row: Row, setting: Setting) -> str:
    """The cell's name on the page; ``number`` is the table's position."""
    return f"cell-{number}-{table.rows.index(row)}-{table.settings.index(setting)}"


def runs(tables: list[Table]) -> Markup:
    """The section: folded, as it is long; the page shows a cell's part when asked for."""
    articles = [
        _article(table, number, row, setting, cell)
        for number, table in enumerate(tables)
        for setting in table.settings
        for row in table.rows
        if (cell := table.cell(row, setting)) is not None
    ]
    count = sum(len(cell.runs) for table in tables for cell in table.cells.values())
    return section(
        "runs",
        "Every run",
        "The command of each run. With the same weights and versions it gives the same numbers, "
        "time and memory aside.",
        element(
            "details",
            element("summary", f"Show all {count:,}"),
            row_filter("runs", "runs"),
            *articles,
            class_="group",
        ),
    )


def _article(table: Table, number: int, row: Row, setting: Setting, cell: Cell) -> Markup:
    return element(
        "article",
        element("h4", row.label),
        element("p", f"{setting_name(table, setting)} · {table.protocol}", class_="where"),
        *(run_details(run) for run in cell.runs),
        id=cell_anchor(table, number, row, setting),
    )


def run_details(run: RunResult) -> Markup:
    """A run's numbers, its command, and its error if it failed."""
    facts = [f"seed {run.spec.seed}", *_facts(run)]
    return element(
        "div",
        element("p", " · ".join(facts), class_="facts"),
        element("pre", run.error, class_="trouble") if run.error else None,
        command(run),
        class_="run",
    )


def command(run: RunResult) -> Markup:
    """The command that does a run again, with a button that copies it."""
    return element(
        "div",
        element("code", run.spec.command),
        element("button", "Copy", type="button", data_copy=True),
        class_="command",
    )


def _facts(run: RunResult) -> list[str]:
    if run.scores is None:
        return ["failed", f"after {run.seconds:.0f} s"]
    facts = [_fact(metric, run) for metric in (ERROR, DOMAIN_ERROR, ECE, NLL, TVD, COST)]
    collapsed = ["collapsed"] if run.scores.collapsed else []
    return [*facts, *collapsed, f"{run.scores.samples:,} samples in {run.seconds:.0f} s"]


def _fact(metric: Metric, run: RunResult) -> str:
    value = metric.read(run)
    if value is None:
        return f"no {metric.title}"
    unit = f"\N{NO-BREAK SPACE}{metric.unit}" if metric.unit else ""
    return f"{metric.title}\N{NO-BREAK SPACE}{metric.show(value)}{unit}"
