"""Mean teacher: learn from a moving average of the weights (CoTTA, RoTTA, RMT)."""

from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from trimtab.augment import Augment, ColorAffineBlurNoise, augmented
from trimtab.augment.still import still
from trimtab.core.backbone import Tensors
from trimtab.core.component import Objective, OutputRule, ParameterRule, Start, Step
from trimtab.core.ranges import check_not_negative, check_shares
from trimtab.functional import (
    cross_entropy,
    full_copy,
    move_towards,
    symmetric_cross_entropy,
)
from trimtab.image_size import is_small


@dataclass(frozen=True)
class MeanTeacher(Objective, ParameterRule, OutputRule):
    """Agree with a teacher whose weights are the running average of the student's.

    Outputs are replaced by the teacher's, or by the sum of both networks' logits, as they were
    before the update. The teacher normalises as the student does.

    Args:
        momentum: Share of the teacher's weights that stays at each update.
        symmetric: Symmetric cross entropy instead of the teacher's against the student's; None
            takes it for images of more than 64 px a side.
        augmented_student: Whether the student's augmented view has to agree too, by half.
        views_of_teacher: Over how many augmented views the teacher averages its logits on batches
            that the source model is unsure of (CoTTA); 0 always shows it the batch as it is.
        min_confidence: Mean of the source model's largest probabilities that makes a batch sure;
            None takes 0.92 for images of up to 64 px a side, 0.1 for larger ones.
        returns: ``"teacher"`` or ``"sum"``.
        augment: Makes the augmented views; None takes CoTTA's.
    """

    momentum: float = 0.999
    symmetric: bool | None = False
    augmented_student: bool = False
    views_of_teacher: int = 0
    min_confidence: float | None = None
    returns: Literal["teacher", "sum"] = "teacher"
    augment: Augment | None = None

    def __post_init__(self) -> None:
        check_shares(self, "momentum")
        check_not_negative(self, "views_of_teacher")
        if self.returns not in ("teacher", "sum"):
            raise ValueError(f"returns must be 'teacher' or 'sum', got {self.returns!r}")

    dense = True

    def for_dense(self) -> "MeanTeacher":
        """With views that leave pixels where they are; every second one of the teacher is mirrored,
        and its logits are mirrored back."""
        return replace(self, augment=still(self.shared_view))

    def new_memory(self, start: Start) -> Tensors:
        """The teacher's parameters, by their full name."""
        return {name: full_copy(value) for name, value in start.source.items()}

    @property
    def shared_view(self) -> Augment:
        return self.augment or ColorAffineBlurNoise()

    def views(self, inputs: Tensor, generator: torch.Generator) -> Tensor | None:
        return augmented(self.shared_view, inputs, generator) if self.augmented_student else None

    def targets(self, step: Step, memory: Tensors) -> Tensors:
        """The teacher's logits."""
        if not self.views_of_teacher or self._is_sure(step):
            return {"logits": step.forward(step.inputs, memory).logits}
        total: Tensor | None = None
        for number in range(self.views_of_teacher):
            view = augmented(self.shared_view, step.inputs, step.generator)
            logits = _forward(step, view, memory, mirrored=step.task.is_dense and number % 2 == 1)
            total = torch.zeros_like(logits) if total is None else total
            total += logits
        assert total is not None  # there is a view at least
        return {"logits": total / self.views_of_teacher}

    def _is_sure(self, step: Step) -> bool:
        """Whether the source model is confident of this batch on average."""
        source: Tensors = {}  # no parameters of its own: the backbone's
        confidence = step.forward(step.inputs, source).logits.softmax(1).amax(1).mean()
        default = 0.92 if is_small(tuple(step.inputs.shape[1:])) else 0.1
        return bool(confidence >= (default if self.min_confidence is None else self.min_confidence))

    def loss(self, step: Step, memory: Tensors) -> Tensor:
        seen = step.task.learned_from
        teacher = seen(step.targets[self.name]["logits"])
        symmetric = self.symmetric
        if symmetric is None:
            symmetric = not is_small(tuple(step.inputs.shape[1:]))
        distance = symmetric_cross_entropy if symmetric else cross_entropy
        if not self.augmented_student:
            return distance(teacher, step.logits)
        view = seen(step.forward_view(self.name).logits)
        return 0.5 * (distance(teacher, step.logits) + distance(teacher, view))

    def after_update(self, params: Tensors, source: Tensors, memory: Tensors) -> None:
        move_towards(memory, params, 1 - self.momentum)

    def correct(self, logits: Tensor, step: Step, memory: Tensors) -> Tensor:
        teacher = step.targets[self.name]["logits"]
        return logits + teacher if self.returns == "sum" else teacher


def _forward(step: Step, inputs: Tensor, params: Tensors, *, mirrored: bool) -> Tensor:
    """Logits under these parameters; of mirrored images, mirrored back."""
    if not mirrored:
        return step.forward(inputs, params).logits
    return step.forward(inputs.flip(-1), params).logits.flip(-1)
