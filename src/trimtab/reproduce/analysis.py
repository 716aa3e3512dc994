"""What an experiment says: tables, figures, and whether claims hold."""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.report.markup import Markup

STANDARD_ERRORS = 2.0
"""A margin of no more standard errors than this is too close to say."""


@dataclass(frozen=True)
class Claim:
    """Something the paper says, and what was found here.

    Args:
        text: The claim, in our words.
        holds: None where what it needs was not run, or where it is too close to say.
        numbers: What was measured.
        close: Whether it is too close to say.
    """

    text: str
    holds: bool | None
    numbers: str = ""
    close: bool = False

    @property
    def verdict(self) -> str:
        """In a word or two."""
        if self.close:
            return "too close to say"
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
    text: str,
    lower: float | None,
    higher: float | None,
    names: tuple[str, str],
    slack: float = 0.0,
    doubt: float | None = None,
) -> Claim:
    """The claim that one number is below another one, give or take ``slack`` points.

    What reads as equal is a tie, and a tie does not hold. Where the standard error of the
    difference is known, ``doubt``, a margin within two of them is too close to say.
    """
    if lower is None or higher is None:
        return Claim(text, None)
    numbers = f"{names[0]} {lower:.1f}, {names[1]} {higher:.1f}"
    margin, tie = higher + slack - lower, slack == 0 and _reads_equal(lower, higher)
    if doubt is None:
        return Claim(text, margin >= 0 and not tie, numbers)
    numbers += f"; margin {margin:+.1f} ± {doubt:.1f}"
    if tie or abs(margin) <= STANDARD_ERRORS * doubt:
        return Claim(text, None, numbers, close=True)
    return Claim(text, margin > 0, numbers)


def change(
    text: str, first: float | None, second: float | None, names: tuple[str, str], *, falls: bool
) -> Claim:
    """The claim that the second of two numbers is below the first one, or else above it."""
    if first is None or second is None:
        return Claim(text, None)
    numbers = f"{names[0]} {first:.1f}, {names[1]} {second:.1f}"
    moved = second < first if falls else second > first
    return Claim(text, moved and not _reads_equal(first, second), numbers)


def _reads_equal(first: float, second: float) -> bool:
    """Whether two numbers are the same as they are shown."""
    return f"{first:.1f}" == f"{second:.1f}"
