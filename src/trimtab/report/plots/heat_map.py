"""Errors by domain: numbers, and as colour what changes against the source model."""

import statistics
from collections.abc import Mapping, Sequence

from trimtab.report.markup import Markup, together
from trimtab.report.plots.fields import (
    FIELD_HEIGHT,
    FIELD_WIDTH,
    HEADER,
    MARGIN,
    column_name,
    drawing,
    field,
    row_name,
    strength,
)
from trimtab.report.settings import Row
from trimtab.report.table import Cell

NAMES = 118
"""Room for the names of rows, in pixels."""
FULL_COLOUR = 30.0
"""The change in points that has the strongest colour."""


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
    size = (NAMES + FIELD_WIDTH * len(domains) + MARGIN, HEADER + FIELD_HEIGHT * len(errors))
    heads = [
        column_name(domain, NAMES + FIELD_WIDTH * (index + 0.5))
        for index, domain in enumerate(domains)
    ]
    lines = [
        _line(row, found, source, domains, HEADER + FIELD_HEIGHT * index)
        for index, (row, found) in enumerate(errors.items())
    ]
    return drawing("Error by domain", size, *heads, *lines, shrinks=False)


def _line(
    row: Row,
    errors: Mapping[str, float],
    source: Mapping[str, float],
    domains: Sequence[str],
    top: float,
) -> Markup:
    fields = [
        _field(row, domain, errors[domain], source.get(domain), NAMES + FIELD_WIDTH * index, top)
        for index, domain in enumerate(domains)
        if domain in errors
    ]
    return together(row_name(row.label, NAMES, top + 14.5, letters=16), *fields)


def _field(
    row: Row, domain: str, error: float, source: float | None, left: float, top: float
) -> Markup:
    change = None if source is None or row.is_source else error - source
    hint = f"{row.label}, {domain}: {error:.1f} %"
    if change is not None:
        hint += f" ({change:+.1f} against the source model)"
    colour = "plain" if change is None else "hotter" if change > 0 else "cooler"
    opacity = None if change is None else strength(change, FULL_COLOUR)
    return field(hint, colour, opacity, (left, top, FIELD_WIDTH, FIELD_HEIGHT), f"{error:.0f}")
