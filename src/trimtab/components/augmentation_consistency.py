"""Consistency regularisation: agree with an augmented view (ROID, arXiv:2306.00650)."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import torch
from torch import Tensor

from trimtab.augment import Augment, ColorAffineFlip, augmented
from trimtab.augment.draw_first import DrawFirst
from trimtab.augment.still import still
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

    augment: Augment = field(default_factory=ColorAffineFlip)
    rowwise: ClassVar[bool] = True

    dense = True

    def for_dense(self) -> "AugmentationConsistency":
        """With colours alone: a pixel is compared with the same pixel of the view."""
        return replace(self, augment=still(self.augment))

    def views(self, inputs: Tensor, generator: torch.Generator) -> Tensor:
        return augmented(self.augment, inputs, generator)

    @property
    def shared_view(self) -> object:
        return self.augment

    @property
    def views_by_part(self) -> bool:
        return isinstance(self.augment, DrawFirst) and self.augment.draws_for_any_number

    def loss(self, step: Step, memory: Tensors) -> Tensor:
        view = step.forward_view(self.name).logits
        return symmetric_cross_entropy(step.task.learned_from(view), step.logits)
