"""Numbers by row and column, each a coloured field: changes, or shares of a whole."""

from collections.abc import Mapping, Sequence

from trimtab.report.markup import Markup, element
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

LETTER_WIDTH = 6.2

Values = Mapping[str, Mapping[str, float]]
"""By row, then by column; those that were not measured are left out."""


def change_matrix(title: str, values: Values, columns: Sequence[str], full: float) -> Markup:
    """Changes in points, in colours: warm is up, cool is down.

    Args:
        full: The change in points that has the strongest colour.
    """
    left, width = _names_width(values), FIELD_WIDTH
    fields = [
        field(
            f"{row}, {column}: {value:+.1f} points",
            "hotter" if value > 0 else "cooler",
            strength(value, full),
            (left + width * x, HEADER + FIELD_HEIGHT * y, width, FIELD_HEIGHT),
            f"{value:+.0f}".replace("+0", "0").replace("-0", "0"),
        )
        for y, (row, found) in enumerate(values.items())
        for x, column in enumerate(columns)
        if (value := found.get(column)) is not None
    ]
    heads = [column_name(column, left + width * (x + 0.5)) for x, column in enumerate(columns)]
    names = [
        row_name(row.replace("_", " "), left, HEADER + FIELD_HEIGHT * (y + 0.5) + 4)
        for y, row in enumerate(values)
    ]
    size = (left + width * len(columns) + MARGIN, HEADER + FIELD_HEIGHT * len(values))
    return drawing(title, size, *heads, *names, *fields)


def share_matrix(
    title: str, values: Values, columns: Sequence[str], axis: str, full: float
) -> Markup:
    """Shares of a whole in %, from pale to strong; columns are too many for names.

    Args:
        axis: What the columns run along.
        full: The share in % that has the strongest colour.
    """
    left, width = _names_width(values), max(3.0, min(27.0, 360 / max(1, len(columns))))
    height = max(3.0, min(16.0, 260 / max(1, len(values))))
    fields = [
        field(
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
    names = [
        row_name(row.replace("_", " "), left, 2 + height * (y + 0.5) + 4)
        for y, row in enumerate(values)
        if named
    ]
    end, bottom = left + width * len(columns), 2 + height * len(values)
    foot = element("text", axis, class_="axis end", x=end, y=bottom + 14)
    return drawing(title, (end + 2, bottom + 20), *names, *fields, foot)


def _names_width(values: Values) -> float:
    return 14 + LETTER_WIDTH * max((min(18, len(row)) for row in values), default=4)
