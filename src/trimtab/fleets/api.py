"""The one-liner around a fleet."""

from typing import Any

from torch import nn

from trimtab.api import backbone_of
from trimtab.core.backbone import Backbone
from trimtab.core.method import Method
from trimtab.fleets.fleet import Fleet
from trimtab.fleets.opening import Opening


def fleet(
    model: nn.Module | Backbone,
    method: str | Method = "roid",
    *,
    num_classes: int | None = None,
    seed: int = 0,
    window: int | None = None,
    micro_batch: int | None = None,
    classifier: str | None = None,
    adapt_every: int = 1,
    budget: float | None = None,
    samples_at_once: int = 128,
    **options: Any,
) -> Fleet:
    """Any number of streams that share ``model`` and step together, each adapting for itself.

    Args:
        model: A classifier, or a Backbone.
        method: Of streams that are opened by their first batch; ``fleet.open`` takes others.
        seed: Each stream's own follows from this one and from its name, so that the order in
            which streams are opened does not matter.
        samples_at_once: Most samples in one merged pass; streams step in groups of as many.
        options: The method's own options. All others are those of ``trimtab.adapt``, each
            stream's.
    """
    stream = {
        "window": window,
        "micro_batch": micro_batch,
        "adapt_every": adapt_every,
        "budget": budget,
    }
    opening = Opening(method, seed, stream, options)
    backbone = backbone_of(model, num_classes, classifier)
    return Fleet(backbone, opening, samples_at_once=samples_at_once)
