"""Self-distillation from the source model (SANTA, Chakrabarty et al., TMLR 2023)."""

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from trimtab.augment import Augment, ColorAffineBlurNoise, augmented
from trimtab.augment.still import still
from trimtab.core.backbone import Tensors
from trimtab.core.component import Objective, Step
from trimtab.functional import cross_entropy


@dataclass(frozen=True)
class SourceAnchor(Objective):
    """Cross entropy of the source model's prediction against a sample's and its view's.

    The source model normalises as the stream does and sees the sample as it is.

    Args:
        augment: Makes the augmented view; None takes CoTTA's.
    """

    augment: Augment | None = None
    rowwise: ClassVar[bool] = True

    dense = True

    def for_dense(self) -> "SourceAnchor":
        """With views that leave pixels where they are."""
        return replace(self, augment=still(self.shared_view))

    @property
    def shared_view(self) -> Augment:
        return self.augment or ColorAffineBlurNoise()

    def views(self, inputs: Tensor, generator: torch.Generator) -> Tensor:
        return augmented(self.shared_view, inputs, generator)

    def targets(self, step: Step, memory: Tensors) -> Tensors:
        """The source model's logits: a forward with no parameters of its own."""
        return {"logits": step.forward(step.inputs, {}).logits}

    def loss(self, step: Step, memory: Tensors) -> Tensor:
        seen = step.task.learned_from
        anchor = seen(step.targets[self.name]["logits"])
        view = seen(step.forward_view(self.name).logits)
        return 0.5 * (cross_entropy(step.logits, anchor) + cross_entropy(view, anchor))
