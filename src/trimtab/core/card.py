"""Method cards: what a reader wants to know of a method before using it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Card:
    """Facts about a method that its code cannot show; the documentation is made of them.

    Args:
        title: The name its authors gave it.
        paper: Authors, venue, year and arXiv id.
        idea: Two sentences.
        helps: When to use it.
        hurts: When not to.
        forwards: Forward passes per sample, in words and numbers.
        backwards: Backward passes per sample, in words and numbers.
        source_data: What it needs of the source data, or "none".
    """

    title: str
    paper: str
    idea: str
    helps: str
    hurts: str
    forwards: str
    backwards: str
    source_data: str = "none"
