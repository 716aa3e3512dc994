"""How a method looks, the same in every plot: a colour, a kind of line and a shape."""

from collections.abc import Iterable
from dataclasses import dataclass

from trimtab.report.markup import Child, Markup, element
from trimtab.report.settings import Row
from trimtab.report.table import Table

COLOURS = 8
"""Colours in the style sheet that the common kinds of colour blindness keep apart."""

SOURCE = "source"
DASHES = ("", "6 3", "2 3")
SHAPES = ("circle", "square", "triangle", "diamond")


@dataclass(frozen=True)
class Mark:
    """A method's looks.

    Args:
        name: Unique on the page; ties lines, points and legend together.
        colour: Class in the style sheet.
        dash: Dash pattern of SVG.
        shape: Of points.
    """

    name: str
    colour: str
    dash: str
    shape: str

    def point(self, x: float, y: float, radius: float, *children: Child) -> Markup:
        """A point at a place."""
        looks = f"point {self.colour}"
        if self.shape == "circle":
            return element("circle", *children, class_=looks, cx=x, cy=y, r=radius)
        corners = _corners(self.shape, x, y, radius)
        path = " ".join(f"{left:.1f},{top:.1f}" for left, top in corners)
        return element("polygon", *children, class_=looks, points=path)

    def line(self, places: Iterable[tuple[float, float]], *children: Child) -> Markup:
        """A line through places."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        return element(
            "polyline",
            *children,
            class_=f"line {self.colour}",
            points=path,
            stroke_dasharray=self.dash or None,
        )


def marks(tables: Iterable[Table]) -> dict[Row, Mark]:
    """A mark for each method; the source model is a grey dashed line."""
    rows = list(dict.fromkeys(row for table in tables for row in table.rows))
    methods = [row for row in rows if not row.is_source]
    found = {row: nth_mark(index) for index, row in enumerate(methods)}
    return found | {row: Mark(SOURCE, "grey", "4 3", "circle") for row in rows if row.is_source}


def named_marks(names: Iterable[str]) -> dict[str, Mark]:
    """A mark for each name; the one called ``source`` is grey."""
    found = list(names)
    others = [name for name in found if name != SOURCE]
    looks = {name: nth_mark(index) for index, name in enumerate(others)}
    return {name: looks.get(name, Mark(SOURCE, "grey", "4 3", "circle")) for name in found}


def nth_mark(index: int) -> Mark:
    """The looks of the method at a place in the order."""
    rounds, colour = divmod(index, COLOURS)
    return Mark(
        f"m{index}", f"c{colour}", DASHES[rounds % len(DASHES)], SHAPES[index % len(SHAPES)]
    )


def _corners(shape: str, x: float, y: float, radius: float) -> list[tuple[float, float]]:
    if shape == "square":
        side = 0.9 * radius
        return [
            (x - side, y - side),
            (x + side, y - side),
            (x + side, y + side),
            (x - side, y + side),
        ]
    if shape == "triangle":
        return [
            (x, y - 1.2 * radius),
            (x + 1.1 * radius, y + 0.8 * radius),
            (x - 1.1 * radius, y + 0.8 * radius),
        ]
    reach = 1.25 * radius
    return [(x, y - reach), (x + reach, y), (x, y + reach), (x - reach, y)]
