"""Any numbers against any other ones: a line each, with its own legend."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from trimtab.report.markup import Markup, element, shortened, together
from trimtab.report.plots.frame import Axis, across, plot, upward
from trimtab.report.plots.marks import Mark, named_marks
from trimtab.report.plots.scale import doubling_span, span

Points = Sequence[tuple[float, float]]

FEW_TICKS = 8
"""Up to this many places of points are written at a doubling axis, instead of powers of two."""


def lines(
    drawn: Mapping[str, Points],
    x_name: str,
    y_name: str = "error in %",
    *,
    doubling: bool = False,
    limits: tuple[float, float] | None = None,
) -> Markup:
    """A plot of named lines.

    Args:
        drawn: Points by name; a line called ``source`` is grey.
        x_name: What is measured from left to right.
        y_name: What is measured upwards, with its unit.
        doubling: Whether equal steps to the right stand for equal factors.
        limits: Range upwards; by default around the points.
    """
    places = [x for points in drawn.values() for x, _ in points]
    low, high = doubling_span(places) if doubling else (min(places), max(places))
    x = across(x_name, low, high if high > low else low + 1, doubling=doubling)
    marked = sorted(set(places))
    if doubling and len(marked) <= FEW_TICKS:
        x = Axis(x_name, replace(x.scale, at=tuple(marked)))
    values = [y for points in drawn.values() for _, y in points]
    y = upward(y_name, *(limits or span(values, least=2.0)))
    looks = named_marks(drawn)
    content = [
        _line(name, points, looks[name], [(x.scale(a), y.scale(b)) for a, b in points])
        for name, points in drawn.items()
    ]
    title = f"{y_name} against {x_name}"
    return together(plot(title, x, y, *reversed(content)), _legend(looks))


def _line(name: str, points: Points, mark: Mark, places: list[tuple[float, float]]) -> Markup:
    dots = [
        mark.point(*place, 2.5, element("title", f"{name}: {y:.1f} at {x:g}"))
        for place, (x, y) in zip(places, points, strict=True)
    ]
    return element("g", mark.line(places), *(dots if len(points) <= 20 else ()))


def _legend(looks: Mapping[str, Mark]) -> Markup:
    entries = [
        element(
            "li",
            element("svg", mark.line([(1, 7), (27, 7)]), viewbox="0 0 28 14", aria_hidden="true"),
            shortened(name, 44),
        )
        for name, mark in looks.items()
    ]
    return element("ul", *entries, class_="names")
