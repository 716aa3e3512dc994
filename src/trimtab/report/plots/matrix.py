"""Numbers by row and column, each a coloured field: changes, or shares of a whole."""

from collections.abc import Mapping, Sequence

from trimtab.report.markup import Markup, element, shortened

HEADER, MARGIN = 74, 52
FIELD_HEIGHT = 21
LETTER_WIDTH = 6.2

Values = Mapping[str, Mapping[str, float]]
"""By row, then by column; those that were not measured are left out."""


def change_matrix(title: str, values: Values, columns: Sequence[str], full: float) -> Markup:
    """Changes in points, in colours: warm is up, cool is down.

    Args:
        full: A change of so many points has the strongest colour.
    """
    left, width = _names_width(values), 27
    fields = [
        _field(
            f"{row}, {column}: {value:+.1f} points",
            "hotter" if value > 0 else "cooler",
            0.06 + 0.6 * min(1.0, abs(value) / full),
            (left + width * x, HEADER + FIELD_HEIGHT * y, width, FIELD_HEIGHT),
            f"{value:+.0f}".replace("+0", "0").replace("-0", "0"),
        )
        for y, (row, found) in enumerate(values.items())
        for x, column in enumerate(columns)
        if (value := found.get(column)) is not None
    ]
    heads = [_head(column, left + width * (x + 0.5)) for x, column in enumerate(columns)]
    names = [
        _name(row, left, HEADER + FIELD_HEIGHT * (y + 0.5) + 4) for y, row in enumerate(values)
    ]
    size = (left + width * len(columns) + MARGIN, HEADER + FIELD_HEIGHT * len(values))
    return _drawing(title, size, *heads, *names, *fields)


def share_matrix(
    title: str, values: Values, columns: Sequence[str], axis: str, full: float
) -> Markup:
    """Shares of a whole in %, from pale to strong; columns are too many for names.

    Args:
        axis: What the columns run along.
        full: A share of so many % has the strongest colour.
    """
    left, width = _names_width(values), max(3.0, min(27.0, 360 / max(1, len(columns))))
    height = max(3.0, min(16.0, 260 / max(1, len(values))))
    fields = [
        _field(
            f"{row}, {column}: {value:.0f} %",
            "cooler",
            0.04 + 0.9 * min(1.0, value / full),
            (left + width * x, 2 + height * y, width, height),
        )
        for y, (row, found) in enumerate(values.items())
        for x, column in enumerate(columns)
        if (value := found.get(column)) is not None
    ]
    named = height >= 9
    names = [_name(row, left, 2 + height * (y + 0.5) + 4) for y, row in enumerate(values) if named]
    end, bottom = left + width * len(columns), 2 + height * len(values)
    foot = element("text", axis, class_="axis end", x=end, y=bottom + 14)
    return _drawing(title, (end + 2, bottom + 20), *names, *fields, foot)


def _names_width(values: Values) -> float:
    return 14 + LETTER_WIDTH * max((min(18, len(row)) for row in values), default=4)


def _head(column: str, x: float) -> Markup:
    y = HEADER - 6
    return element(
        "text",
        element("title", column),
        shortened(column.replace("_", " "), 18),
        class_="tick",
        x=x,
        y=y,
        transform=f"rotate(-45 {x:.1f} {y})",
    )


def _name(row: str, left: float, baseline: float) -> Markup:
    words = shortened(row.replace("_", " "), 18)
    return element("text", element("title", row), words, class_="name end", x=left - 8, y=baseline)


def _field(
    hint: str,
    colour: str,
    opacity: float,
    place: tuple[float, float, float, float],
    words: str | None = None,
) -> Markup:
    """A field at ``left, top, width, height``; small ones touch each other."""
    left, top, width, height = place
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
    middle = (left + width / 2, top + height / 2 + 4.5)
    number = (
        None
        if words is None
        else element("text", words, class_="value middle", x=middle[0], y=middle[1])
    )
    return element("g", element("title", hint), rect, number)


def _drawing(title: str, size: tuple[float, float], *content: Markup) -> Markup:
    width, height = size
    return element(
        "svg",
        element("title", title),
        *content,
        class_="heat",
        role="img",
        viewbox=f"0 0 {width:.0f} {height:.0f}",
        style=f"max-width:{width:.0f}px",
    )
