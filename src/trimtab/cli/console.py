"""The terminal that every subcommand writes to."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def console(*, stderr: bool = False) -> "Console":
    """A console that prints texts as they are: titles and paths may hold ``[/b]`` or ``:smile:``.

    Words are styled with ``rich.text.Text`` instead.
    """
    from rich.console import Console

    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)
