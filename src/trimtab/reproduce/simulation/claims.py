"""What a temporal prior should do on simulated streams: no harm if i.i.d., a gain if not."""

from collections.abc import Sequence
from typing import NamedTuple

from trimtab.reproduce.analysis import Claim
from trimtab.reproduce.simulation.cases import Case
from trimtab.reproduce.simulation.classifier import BY_DOMAIN
from trimtab.reproduce.simulation.orders import BEGINS, ENDS, INDEPENDENT, ONE_CLASS, RUNS, SETS

SLACK = 0.3
"""Points of error that count as no harm."""
NAMED = 3
"""Cells that a claim names, the worst ones."""


class Cell(NamedTuple):
    """One model in one order, the mean over seeds."""

    case: Case
    order: str
    raw: float
    corrected: float
    changed: float
    later_raw: float
    later_corrected: float
    """Errors of the second half."""

    @property
    def harm(self) -> float:
        """Points of error that the prior adds."""
        return self.corrected - self.raw

    @property
    def second_half(self) -> "Cell":
        """The same of the second half alone."""
        return self._replace(raw=self.later_raw, corrected=self.later_corrected)


def claims(cells: Sequence[Cell]) -> list[Claim]:
    """All of them, over the cells that are there."""
    independent = [cell for cell in cells if cell.order == INDEPENDENT]
    fixed = [cell for cell in independent if cell.case.favourites != BY_DOMAIN]
    moving = [cell for cell in independent if cell.case.favourites == BY_DOMAIN]
    costs = f"the prior costs at most {SLACK} points"
    wins = "the prior has the lower error, whatever the model"
    return [
        _harmless(f"On independent streams, of biased models too, {costs}.", fixed),
        _harmless(f"On independent streams whose bias changes with the domain, {costs}.", moving),
        _idle(independent),
        *(_wins(f"Where classes come in {name}, {wins}.", cells, name) for name in RUNS),
        _wins(f"Where five classes alternate, {wins}.", cells, SETS[0]),
        _wins(f"Where five classes alternate in runs of 4, {wins}.", cells, SETS[1]),
        _wins(f"Where correlation begins halfway, {wins}.", cells, BEGINS),
        _wins(f"Where correlation ends halfway, {wins}.", cells, ENDS),
        _harmless(
            f"Once correlation has ended, {costs} in the half that follows.",
            [cell.second_half for cell in cells if cell.order == ENDS],
        ),
        _harmless(
            f"Where one class comes for ever, as a biased model would have it, {costs}.",
            [cell for cell in cells if cell.order == ONE_CLASS],
        ),
    ]


def _harmless(text: str, cells: Sequence[Cell]) -> Claim:
    if not cells:
        return Claim(text, None)
    harmed = [cell for cell in cells if cell.harm > SLACK]
    worst = max(cell.harm for cell in cells)
    numbers = f"{len(cells) - len(harmed)} of {len(cells)} models; at worst {worst:+.1f} points"
    return Claim(text, not harmed, numbers + _named(harmed))


def _idle(cells: Sequence[Cell]) -> Claim:
    text = "The prior changes no batch of an independent stream."
    if not cells:
        return Claim(text, None)
    most = max(cells, key=lambda cell: cell.changed)
    idle = sum(cell.changed == 0 for cell in cells)
    where = f": {most.case.full_label}" if most.changed else ""
    numbers = f"{idle} of {len(cells)} models; at most {most.changed:.1f} % of batches{where}"
    return Claim(text, most.changed == 0, numbers)


def _wins(text: str, cells: Sequence[Cell], order: str) -> Claim:
    here = [cell for cell in cells if cell.order == order]
    if not here:
        return Claim(text, None)
    same = [cell for cell in here if cell.harm == 0]
    higher = [cell for cell in here if cell.harm > 0]
    lower = len(here) - len(same) - len(higher)
    mean = sum(cell.harm for cell in here) / len(here)
    numbers = f"lower for {lower} of {len(here)} models, the same for {len(same)}, higher for "
    numbers += f"{len(higher)}; on average {mean:+.1f} points{_named(higher or same)}"
    return Claim(text, lower == len(here), numbers)


def _named(cells: Sequence[Cell]) -> str:
    """The worst of these cells, and how many more there are."""
    worst = sorted(cells, key=lambda cell: -cell.harm)
    named = [f"{cell.case.full_label} {cell.harm:+.1f}" for cell in worst[:NAMED]]
    more = [f"{len(cells) - NAMED} more"] if len(cells) > NAMED else []
    return f"; not {'; '.join([*named, *more])}" if cells else ""
