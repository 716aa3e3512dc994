"""A grid of coloured fields with names at its rows and columns."""

from trimtab.report.markup import Markup, element, shortened

HEADER, MARGIN = 82, 66
"""Room for the names of columns above the fields, and for the last of them beside, in pixels."""
FIELD_WIDTH, FIELD_HEIGHT = 27, 21

Box = tuple[float, float, float, float]
"""Left, top, width and height, in pixels."""


def column_name(name: str, x: float) -> Markup:
    """A slanted name above the column whose middle is at ``x``."""
    y = HEADER - 6
    return element(
        "text",
        element("title", name),
        shortened(name.replace("_", " "), 18),
        class_="tick",
        x=x,
        y=y,
        transform=f"rotate(-45 {x:.1f} {y})",
    )


def row_name(name: str, left: float, baseline: float, letters: int = 18) -> Markup:
    """A name that ends where the fields of its row begin."""
    words = shortened(name, letters)
    return element("text", element("title", name), words, class_="name end", x=left - 8, y=baseline)


def strength(change: float, full: float) -> float:
    """The opacity of a change; one of ``full`` or more has the strongest colour."""
    return 0.06 + 0.6 * min(1.0, abs(change) / full)


def field(
    hint: str, colour: str, opacity: float | None, box: Box, words: str | None = None
) -> Markup:
    """A field with a hint and, where there is room, words in it; those without touch each other."""
    left, top, width, height = box
    gap = 1.0 if words is not None else 0.25
    rect = element(
        "rect",
        class_=colour,
        x=left + gap,
        y=top + gap,
        width=width - 2 * gap,
        height=height - 2 * gap,
        rx=3 if words is not None else None,
        fill_opacity=opacity,
    )
    if words is None:
        return element("g", element("title", hint), rect)
    x, y = left + width / 2, top + height / 2 + 4.5
    number = element("text", words, class_="value middle", x=x, y=y)
    return element("g", element("title", hint), rect, number)


def drawing(
    title: str, size: tuple[float, float], *content: Markup, shrinks: bool = True
) -> Markup:
    """The whole grid; one that does not shrink is scrolled on narrow screens."""
    width, height = size
    style = f"max-width:{width:.0f}px"
    return element(
        "svg",
        element("title", title),
        *content,
        class_="heat",
        role="img",
        viewbox=f"0 0 {width:.0f} {height:.0f}",
        style=style if shrinks else f"{style};min-width:{0.85 * width:.0f}px",
    )
