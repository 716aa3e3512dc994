"""The headline of a report: which method is best on average, and which ones harm, in a sentence.

Made from the same numbers as the ranking, and judged as they are shown, to one decimal.
"""

from collections.abc import Sequence

from trimtab.report.ranking import Standing, ranking
from trimtab.report.table import Table

MOST_NAMES = 3
"""Harmful methods that are named; the others are counted."""


def headlines(tables: Sequence[Table]) -> list[str]:
    """A headline for each table that compares something, with its protocol if there are several."""
    found = [(table, headline(table)) for table in tables]
    told = [(str(table.protocol), sentence) for table, sentence in found if sentence]
    if len(tables) == 1:
        return [sentence for _, sentence in told]
    return [f"{protocol}: {sentence}" for protocol, sentence in told]


def headline(table: Table) -> str:
    """Such as ``ROID is best on average, 27.5 points below the source model; TENT is worse ...``.

    Empty where no method is compared with the source model.
    """
    standings = ranking(table)
    if not standings:
        return ""
    settings = max(len(standing.changes) for standing in standings)
    complete = [standing for standing in standings if len(standing.changes) == settings]
    sentence = "; ".join([_best(complete, settings), *_harmful(standings)]) + "."
    return sentence[0].upper() + sentence[1:]


def _best(complete: Sequence[Standing], settings: int) -> str:
    """Who is best on average, of methods that were run in all settings."""
    lowest = min(round(standing.mean, 1) for standing in complete)
    names = [s.row.label for s in complete if round(s.mean, 1) == lowest]
    if lowest >= 0:
        return "no method is better than no adaptation on average"
    where = f"on average of {settings} settings" if settings > 1 else "in the one setting"
    gain = f"{-lowest:.1f} points below the source model"
    if len(names) > 1:
        return f"{_listed(names)} are level as the best {where}, {gain}"
    return f"{names[0]} is best {where}, {gain}"


def _harmful(standings: Sequence[Standing]) -> list[str]:
    """Methods that are worse than the source model somewhere, the most harmful first."""
    harmful = sorted((s for s in standings if s.harmed), key=lambda s: -s.harmed / len(s.changes))
    told = [
        f"{s.row.label} is worse than no adaptation in {s.harmed} of {len(s.changes)}"
        for s in harmful[:MOST_NAMES]
    ]
    left = len(harmful) - len(told)
    if left:
        told.append(f"{left} other method{'s are' if left > 1 else ' is'} worse somewhere, too")
    return told


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
