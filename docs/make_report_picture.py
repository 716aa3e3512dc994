"""Write docs/report.svg, the report in the README: ``python docs/make_report_picture.py``.

Two plots of the page that ``trimtab report benchmarks/results/shipped.json`` makes: the error along
a stream, with its domains, and the error against the cost.
"""

import re
from importlib import resources
from pathlib import Path

from trimtab.bench.submission import read_results
from trimtab.core.files import write_whole
from trimtab.report.domain_spans import domain_spans
from trimtab.report.markup import Markup, element, together
from trimtab.report.metrics import COST, ERROR
from trimtab.report.plots.curves import curves, mean_curve
from trimtab.report.plots.marks import Mark, marks
from trimtab.report.plots.scatter import scatter
from trimtab.report.sections.layout import subject_name
from trimtab.report.settings import Row, Setting
from trimtab.report.table import Table, tables

PICTURE = Path(__file__).with_name("report.svg")
RESULTS = PICTURE.parents[1] / "benchmarks" / "results" / "shipped.json"
MODEL, SCENARIO = "fashion_resnet20_bn", "continual"
WIDTH, HEIGHT, LEFT, TOP, GAP = 700, 372, 20, 62, 40


def style() -> str:
    """The page's own colours and lines, those of light screens."""
    files = resources.files("trimtab.report")
    css = "".join((files / name).read_text() for name in ("style.css", "widgets.css"))
    colours = re.sub(r"light-dark\((#\w+), #\w+\)", r"\1", css)
    root = colours[colours.index(":root {") : colours.index("}") + 1].replace(
        "color-scheme: light dark;", ""
    )
    rules = [line for line in colours.splitlines() if line.startswith(("svg ", ".c", ".grey"))]
    return "\n".join([root.replace(":root", "svg"), *rules])


def panel(title: str, drawn: Markup, left: float) -> Markup:
    """A plot in its place, under its title."""
    placed = drawn.replace("<svg ", f'<svg x="{left}" y="{TOP}" width="300" ', 1)
    placed = re.sub(r' data-curve="[^"]*"| tabindex="0"', "", placed)
    height = re.search(r'viewBox="0 0 300 ([\d.]+)"', placed)
    assert height is not None
    placed = placed.replace("<svg ", f'<svg height="{height[1]}" ', 1)
    return together(element("text", title, x=left, y=TOP - 8), Markup(placed))


def legend(rows: list[Row], looks: dict[Row, Mark]) -> Markup:
    """Names beside their marks."""
    entries = []
    for place, row in enumerate(rows):
        x = LEFT + 90 * place
        line = looks[row].line([(x, 26), (x + 24, 26)])
        point = looks[row].point(x + 12, 26, 4)
        entries.append(together(line, point, element("text", row.label, x=x + 30, y=30)))
    return together(*entries)


def picture() -> str:
    """The whole SVG, which fetches nothing."""
    (table,) = tables(read_results(RESULTS))
    looks = marks([table])
    [setting] = [s for s in table.settings if (s.model, s.scenario) == (MODEL, SCENARIO)]
    column = table.column(setting)
    drawn = {row: mean_curve(cell, ERROR) for row, cell in column.items()}
    spans = domain_spans(next(iter(column.values())))
    along = curves(drawn, looks, ERROR, (0.0, 100.0), spans)
    whole = element(
        "svg",
        element("title", "Two plots of the report: error along the stream, and against cost"),
        element("style", Markup(style())),
        element("rect", x=0, y=0, width=WIDTH, height=HEIGHT, rx=10, fill="#fff", stroke="#e2dfd6"),
        legend(list(column), looks),
        panel(f"{subject_name(table, setting.subject)}, {setting.title}", along, LEFT),
        panel("Error against cost", _cost(table, setting, looks), LEFT + 300 + GAP),
        viewbox=f"0 0 {WIDTH} {HEIGHT}",
        xmlns="http://www.w3.org/2000/svg",
        role="img",
    )
    return f"{whole}\n"


def _cost(table: Table, setting: Setting, looks: dict[Row, Mark]) -> Markup:
    costs = {
        row: (cost, error)
        for row, cell in table.column(setting).items()
        if (cost := cell.mean(COST)) is not None and (error := cell.mean(ERROR)) is not None
    }
    return scatter(costs, looks)


if __name__ == "__main__":
    write_whole(PICTURE, picture().encode())
