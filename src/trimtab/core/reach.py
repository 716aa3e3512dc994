"""Whether a gradient really reaches what is to be trained: asked once, before the first step."""

from __future__ import annotations

import torch
from torch import Tensor

from trimtab.core.backbone import Backbone, Tensors


def check(backbone: Backbone, trained: Tensors, sample: Tensor) -> None:
    """Refuse a backbone through which no gradient flows to any of the trained parameters.

    Args:
        trained: Source values of the trained parameters, by their full name; none asks nothing.
        sample: One sample, (1, ...), which passes forward and backward once for each set of names.
    """
    names = frozenset(trained)
    if not names or names in backbone.reached:
        return
    leaves = {name: value.detach().requires_grad_() for name, value in trained.items()}
    with torch.enable_grad():
        logits = backbone(sample, leaves).logits
        if logits.requires_grad:
            logits.float().sum().backward()
    if any(leaf.grad is not None for leaf in leaves.values()):
        backbone.reached.add(names)
        return
    first, more = next(iter(trained)), len(trained) - 1
    raise ValueError(
        f"no gradient reaches what this method trains, {first} and {more} more: the model is "
        "quantised, or detaches its features, or predicts under no_grad; adapt the floating-point "
        "model it was made from, or use a method that trains nothing ('source', 'bn1', 'lame')"
    )
