"""How a method looks, the same in every plot: a colour, a kind of line and a shape."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trimtab.report.markup import Child, Markup, element
from trimtab.report.settings import Row
from trimtab.report.table import Table

COLOURS = 8
"""Colours in the style sheet that the common kinds of colour blindness keep apart."""

SOURCE = "source"
DASHES = ("", "6 3", "2 3")
SHAPES = ("circle", "square", "triangle", "diamond", "down", "plus", "cross", "star")


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
    return [(x + radius * right, y + radius * down) for right, down in CORNERS[shape]]


def _turned(shape: Sequence[tuple[float, float]], degrees: float) -> list[tuple[float, float]]:
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return [(cos * x - sin * y, sin * x + cos * y) for x, y in shape]


def _star(points: int, outer: float, inner: float) -> list[tuple[float, float]]:
    """From the top, outward and inward in turn."""
    reach = [outer, inner] * points
    return [_turned([(0.0, -r)], 180 * place / points)[0] for place, r in enumerate(reach)]


_ARM, _TIP = 0.38, 1.2
_PLUS = [
    (-_ARM, -_TIP), (_ARM, -_TIP), (_ARM, -_ARM), (_TIP, -_ARM), (_TIP, _ARM), (_ARM, _ARM),
    (_ARM, _TIP), (-_ARM, _TIP), (-_ARM, _ARM), (-_TIP, _ARM), (-_TIP, -_ARM), (-_ARM, -_ARM),
]  # fmt: skip
_TRIANGLE = [(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]

CORNERS: dict[str, list[tuple[float, float]]] = {
    "square": [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    "triangle": _TRIANGLE,
    "diamond": [(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)],
    "down": _turned(_TRIANGLE, 180),
    "plus": _PLUS,
    "cross": _turned(_PLUS, 45),
    "star": _star(5, 1.45, 0.6),
}
"""Corners of each shape but the circle, right and down from its middle, in radii."""
