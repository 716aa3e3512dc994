"""The one-liner around a fleet."""

import os
from typing import Any

from torch import nn

from trimtab.api import backbone_of
from trimtab.core.backbone import Backbone
from trimtab.core.guard.settings import Guard
from trimtab.core.memory_limit import MicroBatch, limited
from trimtab.core.method import Method
from trimtab.core.outputs import Output
from trimtab.core.pace import Budget
from trimtab.fleets import saving
from trimtab.fleets.fleet import Fleet
from trimtab.fleets.opening import Opening
from trimtab.fleets.store import Store


def fleet(
    model: nn.Module | Backbone,
    method: str | Method = "roid",
    *,
    num_classes: int | None = None,
    seed: int = 0,
    window: int | None = None,
    micro_batch: MicroBatch = None,
    memory_limit: int | str | None = None,
    classifier: str | None = None,
    normalization: Any = None,
    output: Output = None,
    adapt_every: int = 1,
    budget: Budget = None,
    guard: bool | Guard | None = None,
    samples_at_once: int = 128,
    resident: int | None = None,
    store: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Fleet:
    """Any number of streams that share ``model`` and step together, each adapting for itself.

    Args:
        model: A classifier, or a Backbone.
        method: Of streams that are opened by their first batch; ``fleet.open`` takes others.
        seed: Each stream's own follows from this one and from its name, so that the order in
            which streams are opened does not matter.
        samples_at_once: Most samples in one merged pass; streams step in groups of as many.
        resident: Most streams in memory between two steps, those used last; the rest are in
            ``store``, and go on exactly when they are used again. None keeps all in memory.
        store: A folder of streams, one file each. Streams that are there already go on.
        options: The method's own options. All others are those of ``trimtab.adapt``, each
            stream's.
    """
    stream = {
        "window": window,
        "micro_batch": limited(micro_batch, memory_limit),
        "adapt_every": adapt_every,
        "budget": budget,
        "guard": guard,
    }
    return Fleet(
        backbone_of(model, num_classes, classifier, normalization, output),
        Opening(method, seed, stream, options),
        samples_at_once=samples_at_once,
        resident=resident,
        store=None if store is None else Store(store),
    )


def load_fleet(
    model: nn.Module | Backbone,
    folder: str | os.PathLike[str],
    method: str | Method | None = None,
    *,
    num_classes: int | None = None,
    classifier: str | None = None,
    normalization: Any = None,
    output: Output = None,
    samples_at_once: int = 128,
    resident: int | None = None,
    store: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Fleet:
    """The fleet that ``Fleet.save`` saved, all of it; a ValueError where it is not whole.

    Args:
        model: The same model.
        folder: Where it was saved. It is read only, and is not needed afterwards.
        method: The fleet's method again, with its ``options``, where it was no word.
        store: An empty folder, or one yet to be made, that the streams wait in; without one, all
            are read into memory.
    """
    backbone = backbone_of(model, num_classes, classifier, normalization, output)
    found = saving.read(folder, backbone)
    kept = None if store is None else Store(store)
    if kept is not None and kept.names:
        raise ValueError(f"store must be empty, got {len(kept.names)} streams in {store}")
    opening = saving.opening(found.usual, method, options)
    fleet = Fleet(backbone, opening, samples_at_once=samples_at_once, resident=resident, store=kept)
    fleet.take_over(found.streams)
    return fleet
