"""Named rows with a dot for each number: what belongs together is on one line."""

from collections.abc import Mapping

from trimtab.report.markup import Markup, element, shortened, together
from trimtab.report.plots.marks import Mark, named_marks
from trimtab.report.plots.scale import Scale, doubling_span, span

WIDTH, LEFT, RIGHT, ROW, BOTTOM = 330, 130, 14, 17, 34

Rows = Mapping[str, Mapping[str, float]]
"""Numbers by the name of their kind, by row."""


def dots(rows: Rows, x_name: str, *, doubling: bool = False) -> Markup:
    """A plot of one line a row, with a legend of the kinds of numbers.

    Args:
        rows: A kind called ``source`` is grey.
        x_name: What is measured, with its unit.
        doubling: Whether equal steps to the right stand for equal factors.
    """
    values = [value for numbers in rows.values() for value in numbers.values()]
    low, high = doubling_span(values) if doubling else span(values, least=2.0)
    scale = Scale(low, high, LEFT, WIDTH - RIGHT, doubling)
    looks = named_marks(dict.fromkeys(kind for numbers in rows.values() for kind in numbers))
    floor = ROW * len(rows) + 4
    content = [
        _row(name, numbers, looks, scale, ROW * (place + 0.5) + 2)
        for place, (name, numbers) in enumerate(rows.items())
    ]
    drawn = element(
        "svg",
        element("title", f"{x_name} by row"),
        _grid(scale, floor),
        *content,
        element("text", x_name, class_="axis end", x=WIDTH - RIGHT, y=floor + BOTTOM - 6),
        class_="plot",
        role="img",
        viewbox=f"0 0 {WIDTH} {floor + BOTTOM}",
    )
    return together(drawn, _legend(looks))


def _grid(scale: Scale, floor: float) -> Markup:
    columns = [
        together(
            element("line", class_="grid", x1=place, x2=place, y1=0, y2=floor),
            element("text", f"{tick:g}", class_="tick middle", x=place, y=floor + 13),
        )
        for tick in scale.ticks
        for place in [scale(tick)]
    ]
    return together(*columns)


def _row(
    name: str, numbers: Mapping[str, float], looks: Mapping[str, Mark], scale: Scale, y: float
) -> Markup:
    label = element("text", shortened(name, 20), class_="tick end", x=LEFT - 8, y=y + 3.5)
    places = [scale(value) for value in numbers.values()]
    bar = element("line", class_="grid", x1=min(places), x2=max(places), y1=y, y2=y)
    points = [
        looks[kind].point(scale(value), y, 3.5, element("title", f"{name}, {kind}: {value:.4g}"))
        for kind, value in numbers.items()
    ]
    return element("g", label, bar, *points)


def _legend(looks: Mapping[str, Mark]) -> Markup:
    entries = [
        element(
            "li",
            element("svg", mark.point(14, 7, 4), viewbox="0 0 28 14", aria_hidden="true"),
            shortened(kind, 44),
        )
        for kind, mark in looks.items()
    ]
    return element("ul", *entries, class_="names")
