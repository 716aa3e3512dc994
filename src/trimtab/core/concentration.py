"""Collapse of predictions onto few classes, told from a run of few classes (concentration)."""

import torch
from torch import Tensor

from trimtab.core.look import COLUMNS
from trimtab.core.shares import class_shares, effective_classes

PAST_SAMPLES = 192
"""Latest samples looked at that tell which classes the adapted model favours."""
FEWEST_SAMPLES = 64
"""Fewer do not."""
MORE_CONCENTRATED = 0.97
"""The adapted model shows at most this share of the classes that the source model does."""
FAVOURITES = 2
"""Classes that are watched: those that the adapted model favours most."""

FEWEST_IN_BATCH, FEW_CLASSES = 16, 0.8
"""A batch of so many samples that shows at most this share of the usual classes is odd."""

OWN, SOURCE = COLUMNS.index("class"), COLUMNS.index("source_class")


def shows(logits: Tensor, earlier: Tensor) -> bool:
    """Whether a batch's predictions show few classes, beside what both models showed last.

    Where the adapted model showed as few in its last look already, that is no news.
    """
    count, classes = logits.shape
    if not FEWEST_IN_BATCH <= count <= len(earlier):
        return False
    last = (class_shares(earlier[:count, place].long(), classes) for place in (OWN, SOURCE))
    usual = min(effective_classes(shares) for shares in last)
    shown = effective_classes(class_shares(logits.argmax(1).cpu(), classes))
    return shown < FEW_CLASSES * usual


def flows(rows: Tensor, earlier: Tensor, classes: int) -> Tensor:
    """Net flow of predictions into the classes that the adapted model favours: (samples,), -1 to 1.

    1 where it says a favourite and the source model does not, -1 the other way round. Which
    classes are favourites is known from earlier looks, so that the flow has no mean but by harm.
    It counts as far as the source model shows all classes (to the eighth power): of a run of few
    classes the source model shows few itself, and there concentration proves nothing.

    Args:
        rows: Of the samples looked at, with ``COLUMNS``.
        earlier: Of those before them, the latest first.
    """
    past = earlier[:PAST_SAMPLES]
    none = torch.zeros(len(rows))
    if len(past) < FEWEST_SAMPLES:
        return none
    shares = class_shares(past[:, OWN].long(), classes)
    source_shares = class_shares(past[:, SOURCE].long(), classes)
    shown = effective_classes(source_shares)
    if effective_classes(shares) >= MORE_CONCENTRATED * shown:
        return none
    latest = torch.cat([rows[:, SOURCE], past[: PAST_SAMPLES - FEWEST_SAMPLES, SOURCE]]).long()
    now = effective_classes(class_shares(latest, classes))
    variety = min(shown / min(classes, len(past)), now / min(classes, len(latest)))
    favoured = (shares - source_shares).clamp(min=0.0)
    favourites = favoured.topk(min(FAVOURITES, classes)).indices
    own, source = (torch.isin(rows[:, place].long(), favourites) for place in (OWN, SOURCE))
    return variety**8 * (own.float() - source.float())
