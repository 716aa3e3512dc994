"""Errors by domain: numbers, and as colour what changes against the source model."""

import statistics
from collections.abc import Mapping, Sequence

from trimtab.report.markup import Markup, element, shortened, together
from trimtab.report.settings import Row
from trimtab.report.table import Cell

CELL_WIDTH, CELL_HEIGHT, NAMES, HEADER, MARGIN = 27, 21, 118, 74, 52
FULL_COLOUR = 30.0
"""A change of so many points has the strongest colour."""


def domain_errors(cell: Cell) -> dict[str, float]:
    """The mean error over seeds in %, by domain in order of the first seed's stream."""
    runs = [run.scores.errors for run in cell.done if run.scores is not None]
    domains = dict.fromkeys(domain for errors in runs for domain in errors)
    return {
        domain: 100 * statistics.fmean(errors[domain] for errors in runs if domain in errors)
        for domain in domains
    }


def heat_map(errors: Mapping[Row, Mapping[str, float]], domains: Sequence[str]) -> Markup:
    """One line a method, one column a domain."""
    source = next((found for row, found in errors.items() if row.is_source), {})
    width, height = NAMES + CELL_WIDTH * len(domains) + MARGIN, HEADER + CELL_HEIGHT * len(errors)
    heads = [_head(domain, index) for index, domain in enumerate(domains)]
    lines = [
        _line(row, found, source, domains, HEADER + CELL_HEIGHT * index)
        for index, (row, found) in enumerate(errors.items())
    ]
    return element(
        "svg",
        element("title", "Error by domain"),
        *heads,
        *lines,
        class_="heat",
        role="img",
        viewbox=f"0 0 {width} {height}",
        style=f"max-width:{width}px;min-width:{0.85 * width:.0f}px",
    )


def _head(domain: str, index: int) -> Markup:
    x, y = NAMES + CELL_WIDTH * (index + 0.5), HEADER - 6
    words = shortened(domain.replace("_", " "), 18)
    return element(
        "text",
        element("title", domain),
        words,
        class_="tick",
        x=x,
        y=y,
        transform=f"rotate(-45 {x:.1f} {y})",
    )


def _line(
    row: Row,
    errors: Mapping[str, float],
    source: Mapping[str, float],
    domains: Sequence[str],
    top: float,
) -> Markup:
    name = element(
        "text",
        element("title", row.label),
        shortened(row.label, 16),
        class_="name end",
        x=NAMES - 8,
        y=top + 14.5,
    )
    cells = [
        _cell(row, domain, errors[domain], source.get(domain), NAMES + CELL_WIDTH * index, top)
        for index, domain in enumerate(domains)
        if domain in errors
    ]
    return together(name, *cells)


def _cell(
    row: Row, domain: str, error: float, source: float | None, left: float, top: float
) -> Markup:
    change = None if source is None or row.is_source else error - source
    hint = f"{row.label}, {domain}: {error:.1f} %"
    if change is not None:
        hint += f" ({change:+.1f} against the source model)"
    strength = 0.0 if change is None else min(1.0, abs(change) / FULL_COLOUR)
    colour = "plain" if change is None else "hotter" if change > 0 else "cooler"
    return element(
        "g",
        element("title", hint),
        element(
            "rect",
            class_=colour,
            x=left + 1.0,
            y=top + 1.0,
            width=CELL_WIDTH - 2,
            height=CELL_HEIGHT - 2,
            rx=3,
            fill_opacity=None if change is None else 0.06 + 0.6 * strength,
        ),
        element("text", f"{error:.0f}", class_="value middle", x=left + CELL_WIDTH / 2, y=top + 15),
    )
