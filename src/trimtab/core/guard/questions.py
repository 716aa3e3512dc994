"""What the source model is asked beside a look: which further views are worth their passes."""

from dataclasses import dataclass

from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.guard import doubt, erased
from trimtab.core.guard.look import Look

HABIT_SAMPLES = 192
"""Samples at the beginning that show what the source model says of shuffled patches."""


@dataclass(frozen=True)
class Questions:
    """Views of a look's samples that the source model is to see.

    Args:
        shuffled: Whether it sees their patches shuffled.
        stretched: Whether it sees them in full contrast.
        asked: Which samples these are of, booleans of shape (samples,); None means all.
    """

    shuffled: bool
    stretched: bool
    asked: Tensor | None = None


def questions(look: Look, evidence: Tensors) -> Questions:
    """Both views where the source says some class too often, of the samples of such classes; at
    the beginning all samples shuffled, to know the source's habit."""
    gone = erased.suspicion(evidence, look.classes) > 0
    suspect = not look.agreed and doubt.is_needed(look, evidence["ring"], gone)
    if float(evidence["looked_at"]) < HABIT_SAMPLES:
        return Questions(shuffled=True, stretched=suspect)
    if not suspect:
        return Questions(shuffled=False, stretched=False)
    return Questions(shuffled=True, stretched=True, asked=doubt.asked(look, evidence["ring"]))
