"""Tables that fit a terminal: no word is broken, no name lost, no column cut.

Where the columns do not fit side by side, the table goes on below, with its names again.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

FRAME = 3
"""Columns of the terminal that a column of the table takes besides its words."""

Cell = str | Text


@dataclass(frozen=True)
class Column:
    """One column of numbers, or the names.

    Args:
        head: What stands above it; lines are separated by newlines.
        cells: One for each row; numbers are never wrapped.
    """

    head: str
    cells: Sequence[Cell]

    @property
    def least(self) -> int:
        """The width below which a word would break."""
        return max(*map(cell_len, _pieces(self.head)), *map(_length, self.cells), 1)

    @property
    def natural(self) -> int:
        """The width at which nothing is wrapped."""
        return max(self.least, *map(cell_len, self.head.splitlines()))


def tables_that_fit(
    names: Column, columns: Sequence[Column], width: int, title: str = "", caption: str = ""
) -> Iterator[Table]:
    """The table in as many parts as ``width`` columns of a terminal ask for."""
    longest = max((cell_len(p) for cell in names.cells for p in _pieces(str(cell))), default=1)
    first = max(longest, min(max(map(_length, names.cells), default=1), width // 3))
    rest, number = list(columns), 0
    while rest or number == 0:
        part = _first_that_fit(rest, width - first - FRAME - 1)
        rest, number = rest[len(part) :], number + 1
        shown = Table(
            title=title if number == 1 else None,
            caption=None if rest else caption,
            caption_justify="left",
        )
        shown.add_column(wrapped(names.head, first), width=first)
        for column, room in zip(part, _widths(part, width - first - FRAME - 1), strict=True):
            shown.add_column(wrapped(column.head, room), justify="right", no_wrap=True, width=room)
        for place, name in enumerate(names.cells):
            shown.add_row(wrapped(str(name), first), *(column.cells[place] for column in part))
        yield shown


def wrapped(text: str, width: int) -> str:
    """The text in lines of at most ``width``, broken at spaces, or else behind an underscore."""
    return "\n".join(line for part in text.splitlines() for line in _lines(part, width))


def _lines(text: str, width: int) -> Iterator[str]:
    line = ""
    for word in text.split():
        if line and cell_len(f"{line} {word}") <= width:
            line = f"{line} {word}"
            continue
        if line:
            yield line
        line = ""
        for piece in _pieces(word) if cell_len(word) > width else [word]:
            if line and cell_len(line + piece) > width:
                yield line
                line = ""
            line += piece
    yield line


def _pieces(text: str) -> list[str]:
    """What must not be broken: words, and the parts of one that end in underscores."""
    return [piece for word in text.split() for piece in re.findall(r"[^_]*_+|[^_]+", word)] or [""]


def _length(cell: Cell) -> int:
    return cell.cell_len if isinstance(cell, Text) else cell_len(cell)


def _first_that_fit(columns: Sequence[Column], room: int) -> list[Column]:
    """As many columns as fit, and at least one."""
    part: list[Column] = []
    for column in columns:
        room -= column.least + FRAME
        if part and room < 0:
            break
        part.append(column)
    return part


def _widths(columns: Sequence[Column], room: int) -> list[int]:
    """What each column gets: at least what it needs, and of the rest what it can use, in turns."""
    widths = [column.least for column in columns]
    spare = room - sum(widths) - FRAME * len(columns)
    while spare > 0:
        narrow = [n for n, column in enumerate(columns) if widths[n] < column.natural]
        if not narrow:
            break
        widths[min(narrow, key=lambda n: widths[n])] += 1
        spare -= 1
    return widths
