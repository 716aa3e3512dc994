"""Error against cost: one point a method."""

from collections.abc import Mapping
from dataclasses import dataclass

from trimtab.report.markup import Markup, element, shortened
from trimtab.report.plots.frame import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, across, plot, upward
from trimtab.report.plots.marks import Mark
from trimtab.report.plots.scale import doubling_span, span
from trimtab.report.settings import Row

Place = tuple[float, float]
LETTER, LINE = 6.8, 11.0
"""About the size of a letter of a label, in pixels."""


@dataclass(frozen=True)
class Box:
    """A rectangle that a label or a point takes up."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Box") -> bool:
        """Whether the two overlap."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    @property
    def inside(self) -> bool:
        """Whether it lies within the plot."""
        return (
            self.left >= LEFT
            and self.right <= WIDTH - RIGHT + 6
            and self.top >= TOP - 6
            and self.bottom <= HEIGHT - BOTTOM
        )


def scatter(points: Mapping[Row, Place], marks: Mapping[Row, Mark]) -> Markup:
    """A plot of (cost as a multiple of a forward, error in %) by method."""
    low, high = doubling_span(cost for cost, _ in points.values())
    x = across("cost, forwards of the source model", low, high, doubling=True)
    y = upward("error in %", *_limits([error for _, error in points.values()]))
    places = {row: (x.scale(cost), y.scale(error)) for row, (cost, error) in points.items()}
    drawn = [
        _point(row, marks[row], places[row], points[row])
        for row in sorted(points, key=lambda row: not row.is_source)
    ]
    return plot("Error against cost", x, y, _frontier(places), *drawn, *_labels(places, marks))


def _limits(errors: list[float]) -> tuple[float, float]:
    """Around the errors, with room for the points themselves."""
    room = 0.05 * (max(errors) - min(errors))
    return span([min(errors) - room, max(errors) + room], least=2.0)


def _point(row: Row, mark: Mark, place: Place, values: Place) -> Markup:
    hint = f"{row.label}: error {values[1]:.1f} % at {values[0]:.1f} × the cost of a forward"
    point = mark.point(*place, 5, element("title", hint))
    return element("g", point, data_method=mark.name)


def _frontier(places: Mapping[Row, Place]) -> Markup:
    """Steps through the methods that no other beats in both error and cost."""
    steps: list[Place] = []
    for x, y in sorted(places.values(), key=lambda place: (place[0], -place[1])):
        if not steps or y > steps[-1][1]:
            corner = [(x, steps[-1][1])] if steps else []
            steps += [*corner, (x, y)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in steps)
    hint = element("title", "No method is better in both error and cost than those on this line")
    return element("polyline", hint, class_="frontier", points=path)


def _labels(places: Mapping[Row, Place], marks: Mapping[Row, Mark]) -> list[Markup]:
    """A label beside each point where there is room; the rest is left to the legend."""
    taken = [Box(x - 6, y - 6, x + 6, y + 6) for x, y in places.values()]
    labels = []
    for row, (x, y) in sorted(places.items(), key=lambda item: item[1]):
        words = shortened(row.label, 24)
        found = _free(x, y, LETTER * len(words), taken)
        if found is None:
            continue
        taken.append(found)
        text = element("text", words, class_="label", x=found.left, y=found.bottom - 2.5)
        labels.append(element("g", text, data_method=marks[row].name))
    return labels


def _free(x: float, y: float, width: float, taken: list[Box]) -> Box | None:
    corners = [
        (x + 8, y - LINE / 2),
        (x - 8 - width, y - LINE / 2),
        (x - width / 2, y - 8 - LINE),
        (x - width / 2, y + 8),
        (x + 5, y - 7 - LINE),
        (x + 5, y + 7),
        (x - 5 - width, y - 7 - LINE),
        (x - 5 - width, y + 7),
    ]
    boxes = [Box(left, top, left + width, top + LINE) for left, top in corners]
    return next(
        (box for box in boxes if box.inside and not any(box.meets(other) for other in taken)), None
    )
