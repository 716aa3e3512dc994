"""What an experiment says: tables, figures, and whether claims hold."""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.report.markup import Markup


@dataclass(frozen=True)
class Claim:
    """Something the paper says, and what was found here.

    Args:
        text: The claim, in our words.
        holds: None where what it needs was not run.
        numbers: What was measured.
    """

    text: str
    holds: bool | None
    numbers: str = ""

    @property
    def verdict(self) -> str:
        """In a word or two."""
        return {True: "holds", False: "does not hold here", None: "not checked"}[self.holds]


@dataclass(frozen=True)
class Number:
    """A cell of a table.

    Args:
        value: None where nothing was run.
        spread: Standard deviation over seeds.
        paper: The published number for the same images, network and method, if there is one.
        digits: Behind the point.
    """

    value: float | None
    spread: float | None = None
    paper: float | None = None
    digits: int = 1

    def __str__(self) -> str:
        text = "–" if self.value is None else f"{self.value:.{self.digits}f}"
        if self.spread is not None:
            text += f" ±{self.spread:.{self.digits}f}"
        return text if self.paper is None else f"{text} (paper {self.paper:g})"


@dataclass(frozen=True)
class NumberTable:
    """Named rows of numbers.

    Args:
        title: What is measured, with its unit.
        columns: Their names.
        rows: A name and a number for each column.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Number, ...]], ...]


@dataclass(frozen=True)
class Figure:
    """A plot with its title and a sentence on how to read it.

    Args:
        wide: Whether it needs half of the page's width instead of a third.
    """

    title: str
    caption: str
    content: Markup
    wide: bool = False


@dataclass(frozen=True)
class Analysis:
    """All that an experiment says."""

    tables: Sequence[NumberTable] = ()
    figures: Sequence[Figure] = ()
    claims: Sequence[Claim] = ()


def compare(
    text: str, lower: float | None, higher: float | None, names: tuple[str, str], slack: float = 0.0
) -> Claim:
    """The claim that one number is at most another one, give or take ``slack`` points."""
    if lower is None or higher is None:
        return Claim(text, None)
    numbers = f"{names[0]} {lower:.1f}, {names[1]} {higher:.1f}"
    return Claim(text, lower <= higher + slack, numbers)


def change(
    text: str, first: float | None, second: float | None, names: tuple[str, str], *, falls: bool
) -> Claim:
    """The claim that the second of two numbers is below the first one, or else above it."""
    if first is None or second is None:
        return Claim(text, None)
    numbers = f"{names[0]} {first:.1f}, {names[1]} {second:.1f}"
    return Claim(text, second < first if falls else second > first, numbers)
