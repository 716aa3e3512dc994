"""Domains along a stream: bands behind the lines of a plot, with names below."""

from collections.abc import Sequence

from trimtab.report.domain_spans import Span
from trimtab.report.markup import Markup, element, shortened, together
from trimtab.report.plots.frame import BOTTOM, HEIGHT, TOP
from trimtab.report.plots.scale import Scale

LETTER = 6.2
"""About the width of a letter, in pixels."""

MOST_LETTERS = 16
NARROW = 12.0
"""A band has a name if it is at least this wide, in pixels."""


def bands(spans: Sequence[Span], x: Scale) -> Markup:
    """Every second domain shaded, and all of them named where there is room."""
    floor = HEIGHT - BOTTOM
    shades = [
        element(
            "rect",
            class_="band",
            x=x(span.first),
            y=TOP,
            width=x(span.last) - x(span.first),
            height=floor - TOP,
        )
        for span in spans[1::2]
    ]
    names = [
        _name(words(span.domain), (x(span.first) + x(span.last)) / 2, floor + 7)
        for span in spans
        if x(span.last) - x(span.first) >= NARROW
    ]
    return together(*shades, *names)


def room_below(spans: Sequence[Span]) -> float:
    """Pixels that the names take."""
    longest = max((min(MOST_LETTERS, len(span.domain)) for span in spans), default=0)
    return max(0.0, LETTER * longest - 8)


def words(domain: str) -> str:
    """A domain for readers: ``gaussian_noise`` is ``gaussian noise``."""
    return domain.replace("_", " ")


def _name(text: str, x: float, y: float) -> Markup:
    """Read from below: there is no room for it otherwise."""
    return element(
        "text",
        shortened(text, MOST_LETTERS),
        class_="domain end",
        x=x + 4,
        y=y,
        transform=f"rotate(-90 {x + 4:.1f} {y:.1f})",
    )
