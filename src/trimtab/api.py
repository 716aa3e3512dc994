"""The one-liner around all of it."""

from typing import Any

from torch import nn

from trimtab import methods
from trimtab.core.adapter import Adapter
from trimtab.core.backbone import Backbone
from trimtab.core.guard import Guard
from trimtab.core.method import Method


def adapt(
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
    guard: bool | Guard | None = None,
    **options: Any,
) -> Adapter:
    """A stream that predicts with ``model`` and adapts to what it sees; the model stays as it is.

    Args:
        model: A classifier of images (or other inputs), or a Backbone that streams share.
        method: A name (``"roid"``), a composition (``"tent + source_ensembling(momentum=0.99)"``)
            or a Method.
        num_classes: Checked against the model's logits; found on the first batch by itself.
        seed: Decides all that is random.
        window: Learn once every so many samples, whatever batches they come in.
        micro_batch: Most samples to hold in memory for gradients at once.
        classifier: Name of the module whose input are the features; found by itself.
        adapt_every: Learn on every so many batches only; all are predicted and corrected.
        budget: Most passes a sample on average, in multiples of a plain forward (``1.5``): learn
            on as many batches as that allows.
        guard: Compare adapted predictions with the source model's now and then, and learn less,
            go back or fall back to the source where they are worse. True, False or a Guard; None
            leaves it to the method, and the preset ``trimtab`` has one.
        options: The method's own options, as listed by its factory.
    """
    return recipe_of(method, options).start(
        backbone_of(model, num_classes, classifier),
        seed=seed,
        window=window,
        micro_batch=micro_batch,
        adapt_every=adapt_every,
        budget=budget,
        guard=guard,
    )


def recipe_of(method: str | Method, options: dict[str, Any]) -> Method:
    """The method that a name, a composition or a Method stands for, with its own options."""
    if not isinstance(method, Method):
        return methods.build(method, **options)
    if options:
        raise ValueError(f"a Method has its options already, got also {', '.join(options)}")
    return method


def backbone_of(
    model: nn.Module | Backbone, num_classes: int | None = None, classifier: str | None = None
) -> Backbone:
    """The backbone that a model is, or becomes."""
    if not isinstance(model, Backbone):
        return Backbone(model, num_classes, classifier)
    if num_classes is not None or classifier is not None:
        raise ValueError("num_classes and classifier belong to the Backbone that is given")
    return model
