"""Health of a stream without labels: the adapted model beside the source, in one record."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.guard import betting
from trimtab.core.guard.look import COLUMNS, UNKNOWN
from trimtab.core.shares import class_shares, effective_classes
from trimtab.core.state import StreamState

LOG = logging.getLogger("trimtab")

Beliefs = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Health:
    """What can be known of a stream without labels, over the latest samples looked at.

    Numbers that nothing is known of are None: before the first look, or without a guard.

    Args:
        predicting: ``"adapted"``, or ``"source"`` while the guard has fallen back.
        evidence: Of harm, in nats; an alarm comes at the guard's ``alarm``.
        harm: Estimated loss of accuracy against the source, a share; below 0 adapting helps.
        accuracy: Estimated from how often a view of a sample is predicted like the sample; None
            until views were taken, which is where the models disagree.
        classes: How many classes predictions show, by the entropy of their shares.
        agreement: Share of samples on which both models say the same.
        distance: From the source weights, in updates of the size of the last one looked at.
        unlike: How far the latest inputs are from the usual ones, in deviations of a batch.
        scaled: Updates of which only a part was kept.
        beliefs: What the method's components believe of the stream.
    """

    samples: int
    predicting: str
    looked_at: int
    updates: int
    skipped_updates: int
    resets: int
    scaled: int
    rollbacks: int
    alarms: int
    returns: int
    beliefs: Beliefs
    evidence: float | None = None
    harm: float | None = None
    accuracy: float | None = None
    source_accuracy: float | None = None
    confidence: float | None = None
    source_confidence: float | None = None
    entropy: float | None = None
    source_entropy: float | None = None
    classes: float | None = None
    source_classes: float | None = None
    agreement: float | None = None
    distance: float | None = None
    unlike: float | None = None

    def numbers(self) -> dict[str, float]:
        """All that is a number, by name: what writers write. Beliefs read ``component/name``."""
        own = {f.name: getattr(self, f.name) for f in fields(self)}
        found = {name: value for name, value in own.items() if isinstance(value, (int, float))}
        beliefs = {
            f"{component}/{name}": value
            for component, values in self.beliefs.items()
            for name, value in values.items()
        }
        return {**found, "source_predicts": float(self.predicting == "source"), **beliefs}


def health(state: StreamState, source: Tensors, beliefs: Beliefs, classes: int) -> Health:
    """The health of a stream in this state; ``source`` are the source values of its parameters."""
    counters, guard = state.counters, state.guard
    count = {name: int(guard[name]) if guard else 0 for name in COUNTED}
    skipped = counters.skipped_updates + count.pop("skipped")
    known = _compared(guard, classes) if guard else {}
    return Health(
        samples=counters.samples,
        predicting="source" if guard and guard["fallen_back"] else "adapted",
        updates=counters.updates,
        skipped_updates=skipped,
        resets=counters.resets,
        beliefs=beliefs,
        distance=_distance(state, source) if guard else None,
        **count,
        **known,
    )


COUNTED = ("looked_at", "scaled", "skipped", "rollbacks", "alarms", "returns")


def _compared(guard: Tensors, classes: int) -> dict[str, Any]:
    """What looks have shown."""
    ring = guard["ring"]
    found = {"evidence": betting.evidence(guard["wealth"]), "unlike": float(guard["unlike"])}
    if not len(ring):
        return found
    column = {name: ring[:, place] for place, name in enumerate(COLUMNS)}
    means = ("agreement", "confidence", "entropy", "source_confidence", "source_entropy")
    found |= {name: float(column[name].mean()) for name in means}
    compared, viewed = column["stability"] != UNKNOWN, column["stability"] >= 0
    if bool(compared.any()):
        found["harm"] = float(column["harm"][compared].mean())
    for prefix in ("", "source_"):
        if bool(viewed.any()):
            found[f"{prefix}accuracy"] = _accuracy(column[f"{prefix}stability"][viewed], classes)
        shares = class_shares(column[f"{prefix}class"].long(), classes)
        found[f"{prefix}classes"] = effective_classes(shares)
    return found


def _accuracy(stability: Tensor, classes: int) -> float:
    """Agreement with views, less what chance among the classes would give."""
    chance = 1 / max(classes, 2)
    return max((float(stability.mean()) - chance) / (1 - chance), 0.0)


def has_looked(before: StreamState, after: StreamState) -> bool:
    """Whether a guard has looked between two states of a stream."""
    known = before.guard["looked_at"] if before.guard else 0
    return bool(after.guard) and bool(after.guard["looked_at"] > known)


def length(first: Tensors, second: Tensors) -> float:
    """Euclidean distance of two sets of tensors."""
    with torch.no_grad():
        squares = [float((t - second[name].to(t)).square().sum()) for name, t in first.items()]
    return math.sqrt(sum(squares))


def _distance(state: StreamState, source: Tensors) -> float | None:
    size = float(state.guard["update_size"])
    return length(state.params, source) / size if size else None
