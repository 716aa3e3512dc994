"""The one-liner around all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import nn

from trimtab import methods
from trimtab.core.adapter import Adapter
from trimtab.core.backbone import Backbone
from trimtab.core.compiled import Compile, Compiled
from trimtab.core.forward_only import ForwardBackbone
from trimtab.core.guard.settings import Guard
from trimtab.core.memory_limit import MicroBatch, limited
from trimtab.core.method import Method
from trimtab.core.outputs import Output
from trimtab.core.pace import Budget
from trimtab.core.task import Task, task_of
from trimtab.core.unwrapping import scripted

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup


def adapt(
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
    task: str | Task | None = None,
    adapt_every: int = 1,
    budget: Budget = None,
    guard: bool | Guard | None = None,
    compile: Compile = False,  # noqa: A002  (torch's own name)
    process_group: ProcessGroup | None = None,
    **options: Any,
) -> Adapter:
    """A stream that predicts with ``model`` and adapts to what it sees; the model stays as it is.

    Args:
        model: A classifier of images (or other inputs), or a Backbone that streams share.
        method: A name (``"roid"``), a composition (``"tent + source_ensembling(momentum=0.99)"``)
            or a Method.
        num_classes: Checked against the model's logits; found on the first batch by itself.
        seed: Decides all that is random.
        window: Samples from one update to the next, whatever batches they come in.
        micro_batch: Most samples to hold in memory for gradients at once; ``"auto"`` takes as many
            as ``memory_limit`` allows.
        memory_limit: Most memory for gradients, in bytes or as ``"2GB"``, beside the model and the
            samples themselves.
        classifier: Name of the module whose input are the features; found by itself.
        normalization: How your images are normalised: ``(mean, std)``, a name (``"imagenet"``,
            ``"cifar10"``, ``"half"``, ...), or ``"model"`` for what a timm or torchvision model
            says of itself; None where they lie in [0, 1].
        output: Where the logits are in what the model returns, where that is not plain: a name, a
            place, a function, or ``"probabilities"``.
        task: ``"segmentation"``, or a ``trimtab.Segmentation``, where logits are (batch, classes,
            height, width): every pixel is predicted and learned from (docs/segmentation.md).
        adapt_every: Batches from one update to the next; all are predicted and corrected.
        budget: Most passes per sample on average, in multiples of a plain forward (``1.5``): learn
            on as many batches as that allows. ``"auto"`` learns where inputs are new, and ever more
            rarely while updates change little.
        guard: Compare adapted predictions with the source model's now and then, and learn less,
            go back or fall back to the source where they are worse. True, False or a Guard; None
            leaves it to the method, and the preset ``trimtab`` has one.
        compile: Make passes by ``torch.compile``: True after the first of a kind, ``"auto"`` once
            so many samples came that it is likely to pay, in a thread while steps go on. The
            first takes a minute or so; streams that share a Backbone share it
            (docs/performance.md).
        process_group: Ranks that share this stream, under ``torchrun``: each calls with a batch of
            its own, and all together are one batch (docs/distributed.md).
        options: The method's own options, as listed by its factory.
    """
    recipe = recipe_of(method, options)
    backbone = backbone_of(model, num_classes, classifier, normalization, output, task)
    how: dict[str, Any] = {
        "seed": seed,
        "window": window,
        "micro_batch": limited(micro_batch, memory_limit),
        "adapt_every": adapt_every,
        "budget": budget,
        "guard": guard,
    }
    if process_group is None:
        return recipe.start(backbone, passes=compiled(backbone, compile), **how)
    if compile:
        raise ValueError("compile= is for one process: leave it out, or process_group=")
    from trimtab import distributed  # most streams have one process

    return distributed.start(recipe, backbone, process_group, **how)


def compiled(backbone: Backbone, when: Compile) -> Compiled | None:
    """Passes by ``torch.compile``; None where these are not asked for."""
    if when not in (True, False, "auto"):
        raise ValueError(f'compile must be True, False or "auto", got {when!r}')
    return Compiled(backbone, when) if when else None


def recipe_of(method: str | Method, options: dict[str, Any]) -> Method:
    """The method that a name, a composition or a Method stands for, with its own options."""
    if not isinstance(method, Method):
        return methods.build(method, **options)
    if options:
        raise ValueError(f"a Method has its options already, got also {', '.join(options)}")
    return method


def backbone_of(
    model: nn.Module | Backbone,
    num_classes: int | None = None,
    classifier: str | None = None,
    normalization: Any = None,
    output: Output = None,
    task: str | Task | None = None,
) -> Backbone:
    """The backbone that a model is, or becomes."""
    if isinstance(model, nn.Module) and scripted(model):
        words = f"{scripted(model)}, which makes forward passes only"
        return ForwardBackbone(
            model, None, num_classes, normalization=normalization, output=output, what=words
        )
    if not isinstance(model, Backbone):
        kinds = {"normalization": normalization, "output": output, "task": task}
        return Backbone(model, num_classes, classifier, **kinds)
    task = None if task is not None and task_of(task) == model.task else task
    if any(given is not None for given in (num_classes, classifier, normalization, output, task)):
        raise ValueError(
            "num_classes, classifier, normalization, output and task belong to the Backbone that "
            "is given: Backbone(model, normalization=...)"
        )
    return model
