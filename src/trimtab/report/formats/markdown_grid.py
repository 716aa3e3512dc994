"""A table as Markdown has it."""

from collections.abc import Sequence


def grid(head: Sequence[str], lines: Sequence[Sequence[str]], *, numbers: bool = True) -> str:
    """A table whose names and heads are escaped; all else is Markdown already.

    Args:
        head: Names of the columns.
        lines: A name and cells.
        numbers: Whether the cells are to the right.
    """
    ruler = ["---", *("---:" if numbers else "---" for _ in head[1:])]
    rows = [[escaped(word) for word in head], ruler]
    rows += [[escaped(line[0]), *line[1:]] for line in lines]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def escaped(text: str) -> str:
    """Text that Markdown leaves as it is, within one cell."""
    text = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"\\{letter}" if letter in "\\|*_`[]~" else letter for letter in text)
