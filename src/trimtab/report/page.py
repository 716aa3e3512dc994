"""One page that needs nothing else: tables, plots, style and script in one file."""

from trimtab.bench.result import RunResult
from trimtab.report.comparison import Comparison
from trimtab.report.document import document
from trimtab.report.markup import element
from trimtab.report.metrics import ERROR, TVD, Metric
from trimtab.report.plots.marks import Mark, marks
from trimtab.report.sections.along_stream import along_stream
from trimtab.report.sections.calibration import calibration
from trimtab.report.sections.changes import changes
from trimtab.report.sections.cost import cost
from trimtab.report.sections.domains import domains
from trimtab.report.sections.downloads import downloads
from trimtab.report.sections.error_table import error_table
from trimtab.report.sections.example_images import ImageFiles, example_images
from trimtab.report.sections.legend import legend
from trimtab.report.sections.methods import methods
from trimtab.report.sections.provenance import provenance
from trimtab.report.sections.runs import runs
from trimtab.report.sections.summary import summary
from trimtab.report.sections.troubles import troubles
from trimtab.report.sections.worst_settings import worst_settings
from trimtab.report.settings import Row
from trimtab.report.table import Table, tables

LINKS = {
    "changes": "Changes",
    "table": "Results",
    "worst": "Worst setting",
    "images": "Images",
    "stream": "Stream",
    "cost": "Cost",
    "classes": "Classes",
    "domains": "Domains",
    "calibration": "Calibration",
    "methods": "Methods",
    "troubles": "Troubles",
    "provenance": "Provenance",
    "runs": "Runs",
}


def page(
    results: list[RunResult],
    name: str,
    first: Metric = ERROR,
    comparison: Comparison | None = None,
    against: str = "",
    images: ImageFiles | None = None,
) -> str:
    """The whole page.

    Args:
        results: Of one store, at least one.
        name: The title: the store's name, or what the user calls it.
        first: What the table shows at first.
        comparison: With another store, if there is one.
        against: The other store's name.
        images: Examples of each domain, where they are at hand.
    """
    found = tables(results)
    looks = marks(found)
    plots = [
        along_stream(found, looks, ERROR),
        cost(found, looks),
        along_stream(found, looks, TVD),
        domains(found),
        calibration(found, looks),
    ]
    content = [
        changes(comparison, against) if comparison is not None else None,
        error_table(found, first),
        downloads(found, comparison),
        worst_settings(found, looks),
        example_images(images or {}),
        element("div", legend(_with_numbers(found, looks)), *plots, class_="plots"),
        methods(looks),
        troubles(found),
        provenance(found, results),
        runs(found),
    ]
    main = element("main", *content)
    return document(name, "Trimtab benchmark", summary(found, results), main, LINKS)


def _with_numbers(found: list[Table], looks: dict[Row, Mark]) -> dict[Row, Mark]:
    """Methods of which the plots show something."""
    rows = {row for table in found for (row, _), cell in table.cells.items() if cell.done}
    return {row: mark for row, mark in looks.items() if row in rows}
