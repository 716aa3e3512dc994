"""Self-bootstrapping: degraded views learn from the image itself (SPA, arXiv:2504.08010)."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from trimtab.augment import Augment, augmented
from trimtab.augment.degrade import LowFrequencyMask, PatchNoise
from trimtab.core.backbone import Tensors
from trimtab.core.component import Objective, Step
from trimtab.functional import cross_entropy, entropy


def _degradations() -> tuple[Augment, ...]:
    return (LowFrequencyMask(), PatchNoise())


@dataclass(frozen=True)
class SelfBootstrapping(Objective):
    """KL divergence of degraded views' predictions from that of the image itself.

    The image's prediction is the target and has no gradient. A view counts where it is less
    confident than the image, and a view's losses are averaged over the samples that count.
    Degradations keep the geometry, so that a pixel's prediction stays one of that pixel.

    Args:
        degradations: Each makes a view of a batch, of the same shape; the views' losses add up.
    """

    degradations: tuple[Augment, ...] = field(default_factory=_degradations)

    dense = True

    def __post_init__(self) -> None:
        if not self.degradations:
            raise ValueError("degradations must hold at least one augmentation, got none")

    def views(self, inputs: Tensor, generator: torch.Generator) -> Tensor:
        """The degraded copies of each input, (batch, degradations, ...)."""
        views = [augmented(degrade, inputs, generator) for degrade in self.degradations]
        return torch.stack(views, 1)

    def loss(self, step: Step, memory: Tensors) -> Tensor:
        target = step.logits.detach()
        views = step.views[self.name].unbind(1)
        seen = [step.task.learned_from(step.forward(view).logits) for view in views]
        return torch.stack([lesson(logits, target) for logits in seen]).sum(0)


def lesson(view: Tensor, target: Tensor) -> Tensor:
    """Loss of each sample's view, (batch, ...), whose mean is that over the samples that count."""
    counts = confidence(target) > confidence(view.detach())
    divergence = cross_entropy(target, view) - entropy(target)
    return divergence * counts * (counts.numel() / counts.sum().clamp(min=1))


def confidence(logits: Tensor) -> Tensor:
    """Probability of each row's likeliest class."""
    return logits.softmax(1).amax(1)
