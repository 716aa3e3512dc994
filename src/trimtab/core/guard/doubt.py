"""Doubt in the source model where it collapsed under a domain shift, told from a run of one class.

A source model that says one class of everything is as stable as one that sees a run of that class.
Two further views of its own tell them apart. Of images cut into patches and shuffled, which show no
object any more (PLPD; Lee et al., DeYO, ICLR 2024, arXiv:2403.07366), a collapsed model says its
class as ever; and where a veil has made it collapse, it says another class once contrast is back.
"""

import torch
from torch import Tensor

from trimtab.core.guard.look import COLUMNS, UNKNOWN, Look
from trimtab.core.guard.merit import ramp
from trimtab.core.shares import class_shares, effective_classes

LATEST_SAMPLES = 64
"""Latest samples looked at that tell which classes the source model says too often."""
FEWEST_SAMPLES = 8
"""Of a class: fewer do not tell."""
EXCESS = 0.25
"""By which the share of a class exceeds its share in adapted predictions, where doubt begins."""
NO_DOUBT, FULL_DOUBT = 0.45, 0.75
"""Share of samples that speak against the source model below which there is no doubt, and above
which there is no trust."""
VARIED = 0.5
"""Share of classes that the source model shows at least, for what it says of shuffled patches to
be known as its habit."""
HABIT_WEIGHT = 1 / 3
"""Of the latest look in that habit."""

OWN, SOURCE = COLUMNS.index("class"), COLUMNS.index("source_class")
PLACES = [COLUMNS.index(f"{prefix}_class") for prefix in ("source", "shuffled", "stretched")]


def is_needed(look: Look, earlier: Tensor, erased: bool = False) -> bool:
    """Whether the source model says some class so often that further views are worth their pass,
    also of a sample of this look, which may be shorter than what it is judged by.

    Args:
        erased: Whether batch norms may erase runs, so that a smaller excess is worth it.
    """
    excess = _excess(look.said, look.source_said, earlier, look.classes)
    least = EXCESS / 2 if erased else EXCESS
    return float(excess.max()) > least and bool(_of_such_classes(look, excess).any())


def asked(look: Look, earlier: Tensor) -> Tensor:
    """Which samples are worth it: those of such a class, booleans of shape (samples,)."""
    excess = _excess(look.said, look.source_said, earlier, look.classes)
    return _of_such_classes(look, excess)


def _of_such_classes(look: Look, excess: Tensor) -> Tensor:
    return (excess > EXCESS / 2).to(look.source.device)[look.source_said]


def doubts(look: Look, earlier: Tensor, habit: Tensor) -> Tensor:
    """How far a look makes the source model doubtful, for each class, shape (classes,), 0 to 1.

    Args:
        earlier: Rows of samples looked at before, the latest first.
        habit: How often the source says each class of shuffled patches, while it shows many
            classes; empty where that is not known yet. Some class is its answer to all that is no
            object, and a run of that class is no collapse.
    """
    found = torch.zeros(look.classes, dtype=torch.float32)
    if look.source_shuffled is None:
        return found
    excess = _excess(look.said, look.source_said, earlier, look.classes)
    rows = _latest(look, earlier)
    for label in (excess > 0).nonzero().flatten().tolist():
        of_class = rows[rows[:, 0] == label]
        if len(of_class) >= FEWEST_SAMPLES:
            usual = float(habit[label]) if len(habit) else 0.0
            found[label] = min(1.0, 2 * float(excess[label])) * _doubt(of_class, label, usual)
    return found


def veiled(look: Look, earlier: Tensor) -> float:
    """How far a veil over the inputs seems to have made the source model say what it says, from 0
    to 1: of the latest samples that were asked, also where those of this look were not."""
    rows = _latest(look, earlier)
    rows = rows[rows[:, 2] != UNKNOWN]
    if len(rows) < FEWEST_SAMPLES:
        return 0.0
    return ramp(float((rows[:, 2] != rows[:, 0]).float().mean()), NO_DOUBT, FULL_DOUBT)


def certainty(look: Look, earlier: Tensor) -> Tensor:
    """How certain it is of each class that the source sees it, shape (classes,), from -1 to 1; 0
    where that was not asked. Of the class that is its habit it is never."""
    if look.source_shuffled is None or look.source_stretched is None:
        return torch.zeros(look.classes, dtype=torch.float32)
    return 1 - 2 * doubts(look, earlier, earlier.new_zeros(0))


def _doubt(rows: Tensor, label: int, usual: float) -> float:
    """In a class, from what the source said of both views of samples that it gave that class."""
    shuffled, stretched = rows[:, 1] == label, rows[:, 2] == label
    veiled = ~stretched[rows[:, 2] != UNKNOWN]
    says_it_of_anything = float(shuffled.float().mean()) - usual
    says_it_of_the_veil = float(veiled.float().mean()) if len(veiled) else 0.0
    return ramp(max(says_it_of_anything, says_it_of_the_veil), NO_DOUBT, FULL_DOUBT)


def habit(look: Look, known: Tensor) -> Tensor:
    """What is known of the source model's habit once a look is taken in."""
    if look.source_shuffled is None or look.asked is not None:
        return known
    shown = effective_classes(class_shares(look.source_said.cpu(), look.classes))
    if shown < VARIED * min(look.classes, len(look.source_said)):
        return known
    latest = class_shares(look.source_shuffled.argmax(1).cpu(), look.classes)
    return known.lerp(latest, HABIT_WEIGHT) if len(known) else latest


def _latest(look: Look, earlier: Tensor) -> Tensor:
    """What the source said of the latest samples, of their patches shuffled, and of them in full
    contrast (or ``UNKNOWN``), shape (samples, 3)."""
    now = look.rows(earlier)[:, PLACES]
    known = earlier[earlier[:, PLACES[1]] != UNKNOWN][:, PLACES]
    return torch.cat([now, known])[: max(LATEST_SAMPLES, len(now))]


def _excess(said: Tensor, source_said: Tensor, earlier: Tensor, classes: int) -> Tensor:
    """By how much the source says each class more often, over the latest samples: (classes,)."""
    own, source = (
        torch.cat([now.cpu(), earlier[:, place].long()])[: max(LATEST_SAMPLES, len(now))]
        for now, place in ((said, OWN), (source_said, SOURCE))
    )
    return class_shares(source, classes) - class_shares(own, classes)
