"""A temperature that needs no labels: views should be as sure as they agree with the original."""

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor

from trimtab.augment import Augment, ColorAffineFlip, augmented
from trimtab.core.backbone import Tensors
from trimtab.core.component import Objective, OutputRule, Start, Step

STEADY_SAMPLES = 64.0
"""Once so many have been seen, new samples weigh against as many old ones."""
MOST_LOG = math.log(16.0)


@dataclass(frozen=True)
class ViewTemperature(Objective, OutputRule):
    """Divide logits by a running temperature that is found from an augmented view.

    How often a view's class is the original's stands in for how often a prediction is right.
    Views are harder than originals; by how much, the model says itself, so the share is raised
    by the ratio of both confidences. Where predictions are surer than that the temperature rises,
    otherwise it falls. A model whose confidence is right already keeps it.

    The view is the one that ``augmentation_consistency`` with the same augmentation looks at,
    and passes the network once for both. Nothing is learned from it here: the loss is zero.

    Args:
        augment: Maps a batch to an augmented batch of the same shape.
        rate: How far the log of the temperature moves for a whole gap between confidence and
            agreement.
    """

    augment: Augment = field(default_factory=ColorAffineFlip)
    rate: float = 3.0

    def __post_init__(self) -> None:
        if not self.rate > 0:
            raise ValueError(f"rate must be positive, got {self.rate}")

    def new_memory(self, start: Start) -> Tensors:
        zero = torch.zeros((), device=start.device)
        return {"log_temperature": zero, "seen": zero.clone()}

    def views(self, inputs: Tensor, generator: torch.Generator) -> Tensor:
        return augmented(self.augment, inputs, generator)

    @property
    def shared_view(self) -> object:
        return self.augment

    def loss(self, step: Step, memory: Tensors) -> Tensor:
        view, own = step.forward_view(self.name).logits.detach(), step.logits.detach()
        agreement = (view.argmax(1) == own.argmax(1)).to(own).mean()
        right = (agreement * _confidence(own) / _confidence(view)).clamp(max=1)
        gap = _confidence(own / memory["log_temperature"].exp()) - right
        share = len(own) / (len(own) + memory["seen"].clamp(max=STEADY_SAMPLES))
        moved = memory["log_temperature"] + self.rate * share * gap.nan_to_num(0.0)
        memory["log_temperature"].copy_(moved.clamp(-MOST_LOG, MOST_LOG))
        memory["seen"].add_(len(own))
        return 0 * step.logits[:, 0]

    def correct(self, logits: Tensor, step: Step, memory: Tensors) -> Tensor:
        return logits / memory["log_temperature"].exp()


def _confidence(logits: Tensor) -> Tensor:
    """Mean probability of the likeliest class."""
    return logits.softmax(1).amax(1).mean()
