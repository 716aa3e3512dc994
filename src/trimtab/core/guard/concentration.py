"""Collapse of predictions onto few classes, told from a run of few classes (concentration)."""

import torch
from torch import Tensor

from trimtab.core.guard.look import COLUMNS
from trimtab.core.guard.merit import FEW, MANY, ramp
from trimtab.core.shares import class_shares, effective_classes

PAST_SAMPLES = 192
"""Latest samples looked at that tell which classes the adapted model favours."""
FEWEST_SAMPLES = 64
"""Fewer do not."""
MORE_CONCENTRATED = 0.97
"""The adapted model shows at most this share of the classes that the source model does."""
FEWER_IN_THE_LONG_RUN = 0.99
"""The same in the long run, where less is left to chance."""
LATEST_SAMPLES = 32
"""Latest samples, at least a whole look, that tell of which class the source may see a run."""
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
    return variety**8 * _into_favourites(rows, favoured)


def drift(
    rows: Tensor,
    earlier: Tensor,
    usual: Tensor,
    usual_source: Tensor,
    on_purpose: bool = False,
) -> Tensor:
    """Net flow of predictions into the classes that the adapted model has come to favour in the
    long run, whatever the order of classes: shape (samples,), from -1 to 1.

    Over many runs both models' classes are as frequent as their samples, so that a slow collapse
    shows where each window holds few classes anyhow.

    Args:
        rows: Of the samples looked at, with ``COLUMNS``.
        earlier: Of those before them, the latest first.
        usual: How often the adapted model said each class of the samples compared before these.
        usual_source: How often the source model did, of the same samples; both of shape (classes,).
        on_purpose: Whether the method may favour the class of a run on purpose. Then one that the
            source model says of most of the latest samples is no favourite meanwhile.
    """
    classes, shown = len(usual_source), effective_classes(usual_source)
    if not shown or effective_classes(usual) >= FEWER_IN_THE_LONG_RUN * shown:
        return torch.zeros(len(rows))
    favoured = (usual - usual_source).clamp(min=0.0)
    if on_purpose:
        latest = torch.cat([rows, earlier])[: max(LATEST_SAMPLES, len(rows)), SOURCE].long()
        favoured[class_shares(latest, classes).argmax()] = 0.0
    return ramp(shown / classes, FEW, MANY) * _into_favourites(rows, favoured)


def _into_favourites(rows: Tensor, favoured: Tensor) -> Tensor:
    """1 where the adapted model says a favourite and the source model does not, -1 the other way
    round, shape (samples,).

    Args:
        favoured: How much the adapted model favours each class, shape (classes,).
    """
    most = favoured.topk(min(FAVOURITES, len(favoured)))
    favourites = most.indices[most.values > 0]
    own, source = (torch.isin(rows[:, place].long(), favourites) for place in (OWN, SOURCE))
    return own.float() - source.float()
