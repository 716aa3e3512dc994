"""PLPD filter: samples recognised by their structure (DeYO, arXiv:2403.07366)."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from trimtab.augment.destroy import PatchShuffle
from trimtab.core.backbone import Tensors
from trimtab.core.component import Step, Weighting
from trimtab.core.ranges import check_positive
from trimtab.functional import averaged_over_kept, entropy

Destruction = Callable[[Tensor, torch.Generator], Tensor]


@dataclass(frozen=True)
class StructureDependence(Weighting):
    """PLPD weighting: leave out uncertain samples and those whose class survives destruction.

    The drop is the predicted class's probability minus what is left of it once the image is
    destroyed. A kept sample weighs exp(limit - entropy) + exp(drop), and the loss is averaged
    over the kept ones. Destroyed images of the certain samples go through the network once,
    without gradients.

    Args:
        max_entropy: Entropy from which a sample is left out, as a share of ln(classes).
        entropy_limit: Of the weight, as a share of ln(classes).
        min_drop: Drop up to which a sample is left out.
        destroy: Maps images and a generator to images without structure.
    """

    max_entropy: float = 0.5
    entropy_limit: float = 0.4
    min_drop: float = 0.2
    destroy: Destruction = field(default_factory=PatchShuffle)

    not_dense = (
        "asks whether a class survives when a sample's shapes are destroyed, which moves pixels"
    )

    def __post_init__(self) -> None:
        check_positive(self, "max_entropy")
        if not -1 <= self.min_drop <= 1:
            raise ValueError(f"min_drop must lie in [-1, 1], got {self.min_drop}")

    def weights(self, step: Step, memory: Tensors) -> Tensor:
        uncertainty, largest = entropy(step.logits), math.log(step.logits.shape[1])
        weights = torch.zeros_like(uncertainty)
        certain = uncertainty < self.max_entropy * largest
        if not bool(certain.any()):
            return weights
        drop = self._drop(step, certain)
        limit = self.entropy_limit * largest
        weight = torch.exp(limit - uncertainty[certain]) + torch.exp(drop)
        weights[certain] = weight * (drop > self.min_drop)
        return averaged_over_kept(weights)

    def _drop(self, step: Step, chosen: Tensor) -> Tensor:
        """How much probability the chosen samples' classes lose, shape (chosen,)."""
        before, label = step.logits[chosen].softmax(1).max(1)
        destroyed = self.destroy(step.inputs[chosen], step.generator)
        after = step.forward(destroyed).logits.softmax(1)
        return before - after.gather(1, label[:, None]).squeeze(1)
