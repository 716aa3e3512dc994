"""Losses that a stream learns from: what each sample costs and how much it counts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.component import Objective, Step
from trimtab.core.finite import is_finite


class Descent(NamedTuple):
    """The losses of samples, detached, whose gradients were added up.

    Args:
        row: Gradients of all of the stream's parameters one after the other, in the place of those
            in their ``grad``.
    """

    losses: Tensor
    row: Tensor | None = None


def summed(objectives: list[Objective], step: Step, memory: dict[str, Tensors]) -> Tensor:
    """The sum of all objectives' losses, one number for each sample or pixel."""
    expected = (len(step.logits), *step.logits.shape[2:])
    losses = [objective.loss(step, memory[objective.name]) for objective in objectives]
    for objective, loss in zip(objectives, losses, strict=True):
        if tuple(loss.shape) != expected:  # which weights might be stretched to fit
            raise ValueError(
                f"the loss of {objective.name} must have one number for each sample, shape "
                f"{expected}, got {tuple(loss.shape)}"
            )
    return torch.stack(losses).sum(0)


@dataclass(frozen=True, eq=False)
class Lesson:
    """Samples to learn from, with predictions that gradients can flow through.

    Args:
        memory: Of the components, by their names.
        weights: How much each sample counts, shape (batch,), or each pixel, (batch, height, width).
        samples: How many samples or pixels the whole loss is a mean over.
        penalty: What the parameters themselves cost.
        scale: Factor on the gradients, for networks of half precision.
        flat: Whether parameters of the network are all that is trained.
    """

    objectives: list[Objective]
    memory: dict[str, Tensors]
    step: Step
    weights: Tensor
    samples: int
    penalty: Tensor | float = 0.0
    scale: float = 1.0
    flat: bool = False

    def losses(self) -> Tensor:
        """What each sample costs, shape (batch,), or each pixel, (batch, height, width)."""
        return summed(self.objectives, self.step, self.memory)

    def alone(self, backward: Callable[[Tensor], None]) -> Descent | None:
        """Go down the whole loss; None where it is not finite."""
        losses = self.losses()
        loss = (self.weights * losses).sum() / self.samples + self.penalty
        if not is_finite(loss):
            return None
        backward(loss * self.scale)
        return Descent(losses.detach())

    @property
    def rowwise(self) -> bool:
        """Whether each sample's loss is its own, so that samples of other streams may be beside."""
        return isinstance(self.penalty, float) and all(o.rowwise for o in self.objectives)

    @cached_property
    def viewed(self) -> tuple[str, ...]:
        """Objectives that look at views of the samples."""
        return tuple(o.name for o in self.objectives if o.name in self.step.views)

    def predictions(self) -> Iterator[Tensor]:
        """Logits that gradients flow through: the samples', and those of each view."""
        yield self.step.logits
        seen = set()
        for name in self.viewed:
            view = self.step.views[name]
            if id(view) not in seen:
                seen.add(id(view))
                yield self.step.forward_view(name).logits

    @property
    def kind(self) -> Hashable:
        """Lessons of one kind can be learned as one."""
        step = self.step
        views = [id(step.views[name]) for name in self.viewed]
        places = tuple(views.index(view) for view in views)
        targets = tuple((name, *tensors) for name, tensors in step.targets.items() if tensors)
        form = tuple(step.logits.shape[1:]), step.logits.dtype
        return (*map(id, self.objectives), form, places, targets, self.scale)
