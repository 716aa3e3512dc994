"""The one-liner around all of it."""

from typing import Any

from torch import nn

from trimtab import methods
from trimtab.core.adapter import Adapter
from trimtab.core.backbone import Backbone
from trimtab.core.method import Method
from trimtab.core.outputs import Output


def adapt(
    model: nn.Module | Backbone,
    method: str | Method = "roid",
    *,
    num_classes: int | None = None,
    seed: int = 0,
    window: int | None = None,
    micro_batch: int | None = None,
    classifier: str | None = None,
    normalization: Any = None,
    output: Output = None,
    adapt_every: int = 1,
    budget: float | None = None,
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
        normalization: How your images are normalised: ``(mean, std)``, a name (``"imagenet"``,
            ``"cifar10"``, ``"half"``, ...), or ``"model"`` for what a timm or torchvision model
            says of itself; None where they lie in [0, 1].
        output: Where the logits are in what the model returns, where that is not plain: a name, a
            place, a function, or ``"probabilities"``.
        adapt_every: Learn on every so many batches only; all are predicted and corrected.
        budget: Most passes a sample on average, in multiples of a plain forward (``1.5``): learn
            on as many batches as that allows.
        options: The method's own options, as listed by its factory.
    """
    if isinstance(method, Method):
        if options:
            raise ValueError(f"a Method has its options already, got also {', '.join(options)}")
        recipe = method
    else:
        recipe = methods.build(method, **options)
    if isinstance(model, Backbone):
        if any(given is not None for given in (num_classes, classifier, normalization, output)):
            raise ValueError(
                "num_classes, classifier, normalization and output belong to the Backbone that is "
                "given: Backbone(model, normalization=...)"
            )
        backbone = model
    else:
        backbone = Backbone(
            model, num_classes, classifier, normalization=normalization, output=output
        )
    return recipe.start(
        backbone,
        seed=seed,
        window=window,
        micro_batch=micro_batch,
        adapt_every=adapt_every,
        budget=budget,
    )
