"""Agree with an augmented view of the same samples (ROID, arXiv:2306.00650)."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from trimtab.augment import ColorAffineFlip
from trimtab.core.backbone import Tensors
from trimtab.core.component import Objective, Step
from trimtab.functional import symmetric_cross_entropy


@dataclass(frozen=True)
class AugmentationConsistency(Objective):
    """Symmetric cross entropy between a sample's logits and those of its augmented view.

    Gradients flow through both.

    Args:
        augment: Maps a batch to an augmented batch of the same shape. One that takes a
            ``generator`` gets the stream's, so that the stream's seed decides it.
    """

    augment: Callable[..., Tensor] = field(default_factory=ColorAffineFlip)

    def views(self, inputs: Tensor, generator: torch.Generator) -> Tensor:
        if "generator" in inspect.signature(self.augment).parameters:
            return self.augment(inputs, generator=generator)
        return self.augment(inputs)

    def loss(self, step: Step, memory: Tensors) -> Tensor:
        augmented = step.forward(step.views[self.name]).logits
        return symmetric_cross_entropy(augmented, step.logits)
