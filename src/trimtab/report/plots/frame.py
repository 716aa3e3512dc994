"""The frame of a plot: its size, grid, ticks and the names of its axes."""

from collections.abc import Callable
from dataclasses import dataclass

from trimtab.report.markup import Child, Markup, element, together
from trimtab.report.plots.scale import Scale

WIDTH, HEIGHT = 300, 206
LEFT, RIGHT, TOP, BOTTOM = 28, 10, 22, 34


@dataclass(frozen=True)
class Axis:
    """One direction of a plot.

    Args:
        name: What is measured, with its unit.
        scale: From numbers to pixels.
        show: A tick's words.
        ticked: Whether it has ticks at all; other words may stand in their place.
    """

    name: str
    scale: Scale
    show: Callable[[float], str] = "{:g}".format
    ticked: bool = True


def across(name: str, low: float, high: float, *, doubling: bool = False) -> Axis:
    """An axis from left to right."""
    show = "{:g}×".format if doubling else short_number
    return Axis(name, Scale(low, high, LEFT, WIDTH - RIGHT, doubling, about=4), show)


def upward(name: str, low: float, high: float) -> Axis:
    """An axis from bottom to top."""
    return Axis(name, Scale(low, high, HEIGHT - BOTTOM, TOP))


def plot(
    summary: str, x: Axis, y: Axis, *content: Child, below: float = 0, data: str | None = None
) -> Markup:
    """A whole plot.

    Args:
        summary: What a screen reader says.
        x: From left to right.
        y: From bottom to top.
        content: Lines and points.
        below: Room between the plot and the name of its lower axis, in pixels.
        data: Numbers behind the lines, for the script that shows them: see ``tips.js``.
    """
    return element(
        "svg",
        element("title", summary),
        _grid(x, y, below),
        *content,
        class_="plot",
        role="img",
        viewbox=f"0 0 {WIDTH} {HEIGHT + below:g}",
        tabindex=None if data is None else 0,
        data_curve=data,
    )


def _grid(x: Axis, y: Axis, below: float) -> Markup:
    floor, ceiling = HEIGHT - BOTTOM, TOP
    rows = [
        together(
            element("line", class_="grid", x1=LEFT, x2=WIDTH - RIGHT, y1=place, y2=place),
            element("text", y.show(tick), class_="tick end", x=LEFT - 6, y=place + 3.5),
        )
        for tick in y.scale.ticks
        for place in [y.scale(tick)]
    ]
    columns = [
        together(
            element("line", class_="grid", x1=place, x2=place, y1=ceiling, y2=floor),
            element("text", x.show(tick), class_="tick middle", x=place, y=floor + 14),
        )
        for tick in (x.scale.ticks if x.ticked else ())
        for place in [x.scale(tick)]
    ]
    names = (
        element("text", x.name, class_="axis end", x=WIDTH - RIGHT, y=HEIGHT + below - 6),
        element("text", y.name, class_="axis", x=0, y=10),
    )
    return together(*rows, *columns, *names)


def short_number(value: float) -> str:
    """Thousands as k: 12k."""
    return f"{value / 1000:g}k" if abs(value) >= 1000 else f"{value:g}"
