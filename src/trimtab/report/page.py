"""One page that needs nothing else: tables, plots, style and script in one file."""

from importlib import resources

from trimtab.bench.result import RunResult
from trimtab.report.comparison import Comparison
from trimtab.report.markup import Markup, element, together
from trimtab.report.metrics import ERROR, TVD, Metric
from trimtab.report.plots.marks import Mark, marks
from trimtab.report.sections.along_stream import along_stream
from trimtab.report.sections.calibration import calibration
from trimtab.report.sections.changes import changes
from trimtab.report.sections.cost import cost
from trimtab.report.sections.domains import domains
from trimtab.report.sections.error_table import error_table
from trimtab.report.sections.legend import legend
from trimtab.report.sections.provenance import provenance
from trimtab.report.sections.runs import runs
from trimtab.report.sections.summary import summary
from trimtab.report.sections.troubles import troubles
from trimtab.report.sections.worst_settings import worst_settings
from trimtab.report.settings import Row
from trimtab.report.table import Table, tables
from trimtab.version import __version__

LINKS = {
    "changes": "Changes",
    "table": "Results",
    "worst": "Worst setting",
    "stream": "Stream",
    "cost": "Cost",
    "classes": "Classes",
    "domains": "Domains",
    "calibration": "Calibration",
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
) -> str:
    """The whole page.

    Args:
        results: Of one store, at least one.
        name: The store's.
        first: What the table shows at first.
        comparison: With another store, if there is one.
        against: The other store's name.
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
        worst_settings(found, looks),
        element("div", legend(_with_numbers(found, looks)), *plots, class_="plots"),
        troubles(found),
        provenance(found, results),
        runs(found),
    ]
    header = _header(name, summary(found, results), together(*content))
    return _document(name, together(header, element("main", *content), _dialog(), _footer()))


def _with_numbers(found: list[Table], looks: dict[Row, Mark]) -> dict[Row, Mark]:
    """Methods of which the plots show something."""
    rows = {row for table in found for (row, _), cell in table.cells.items() if cell.done}
    return {row: mark for row, mark in looks.items() if row in rows}


def _header(name: str, tiles: Markup, content: Markup) -> Markup:
    links = [
        element("a", word, href=f"#{anchor}")
        for anchor, word in LINKS.items()
        if f'<section id="{anchor}"' in content
    ]
    toggle = element(
        "button", "Light / dark", type="button", class_="theme", aria_label="Light or dark colours"
    )
    return element(
        "header",
        element("div", element("p", _logo(), "Trimtab benchmark", class_="brand"), toggle),
        element("h1", name),
        tiles,
        element("nav", *links, aria_label="Sections"),
    )


def _logo() -> Markup:
    """A rudder, and the small flap that steers it."""
    rudder = element("path", d="M3 2h7v20H7C4.500 22 3 20 3 17Z", class_="rudder")
    flap = element("path", d="M12 13l7 2.500-1.500 6.500H12Z", class_="flap")
    return element("svg", rudder, flap, viewbox="0 0 22 24", class_="logo", aria_hidden="true")


def _dialog() -> Markup:
    close = element("button", "Close", type="button", class_="close")
    return element("dialog", close, element("div", class_="shown"), aria_label="Runs of a cell")


def _footer() -> Markup:
    return element("footer", f"Written by trimtab {__version__}; needs no network.")


def _document(name: str, body: Markup) -> str:
    """The frame around the body. The policy makes the browser refuse any request."""
    files = resources.files("trimtab.report")
    style = Markup((files / "style.css").read_text(encoding="utf-8"))
    script = Markup((files / "script.js").read_text(encoding="utf-8"))
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{name} · Trimtab benchmark"),
        element("style", style),
    )
    document = element("html", head, element("body", body, element("script", script)), lang="en")
    return f"<!doctype html>\n{document}\n"
