"""RoTTA: robust BN and balanced memory (Yuan, Xie and Li, CVPR 2023, arXiv:2303.13899)."""

from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from trimtab.augment import Augment, ColorAffineBlurNoise, augmented
from trimtab.components.class_balanced_memory import ClassBalancedMemory
from trimtab.components.mean_teacher import MeanTeacher
from trimtab.core.attempt import Attempt
from trimtab.core.backbone import Tensors
from trimtab.core.card import Card
from trimtab.core.component import Start, Step
from trimtab.core.learner import Learner
from trimtab.core.method import Method
from trimtab.core.norm import SOURCE, NormPolicy, running
from trimtab.core.optimizer import Kind, OptimizerChoice
from trimtab.core.prediction import Prediction

CARD = Card(
    title="RoTTA",
    paper="Yuan, Xie and Li, CVPR 2023, arXiv:2303.13899",
    idea=(
        "Learns from a small memory that is balanced over predicted classes and favours recent "
        "and certain samples, so that updates see no class order. An averaged teacher predicts, "
        "with batch-norm statistics that move slowly and only in updates."
    ),
    helps="Class-ordered streams and single samples, also on batch-norm networks.",
    hurts="Fast-changing domains: statistics and teacher follow slowly.",
    forwards="up to 3 (1, and for each update a teacher and a student pass over the memory)",
    backwards="up to 1",
)

TEACHER = "mean_teacher"
STATISTICS = "teacher_statistics"


@dataclass(frozen=True)
class TeachingFromMemory(Learner):
    """The teacher predicts, the student learns from an augmented view of the stored samples.

    Teacher and student have batch-norm statistics of their own. Updates go by samples, whatever
    batches they come in; a window only sets how many recent predictions output rules see.
    """

    augment: Augment = field(default_factory=ColorAffineBlurNoise)

    def own_memory(self, start: Start) -> dict[str, Tensors]:
        """The teacher's statistics."""
        return {STATISTICS: {name: s.clone() for name, s in start.backbone.statistics.items()}}

    def first_norm(self, attempt: Attempt, samples: int) -> NormPolicy:
        return SOURCE

    def further_norm(self, attempt: Attempt, samples: int) -> NormPolicy:
        return SOURCE  # an update's first pass has moved the statistics already

    def predict(self, attempt: Attempt, inputs: Tensor) -> Prediction:
        return self._teach(attempt, inputs, SOURCE)

    def step(self, attempt: Attempt, inputs: Tensor, prediction: Prediction) -> Step:
        """A step whose prediction is the teacher's."""
        step = attempt.step(inputs, prediction)
        return replace(step, targets={TEACHER: {"logits": prediction.logits}})

    def learn_again(
        self, attempt: Attempt, inputs: Tensor, prediction: Prediction | None, micro_batch: int
    ) -> None:
        """One update from the memory: statistics move by one pass of each network."""
        norm = attempt.method.norm
        teacher = self._teach(attempt, inputs, norm)
        view = augmented(self.augment, inputs, attempt.state.generator)
        with torch.set_grad_enabled(not attempt.is_micro_batched(view)):
            student = attempt.forward(view, None, norm)
        targets = {TEACHER: {"logits": teacher.logits}}
        step = replace(attempt.step(view, student), targets=targets)
        self.learn(attempt, step, micro_batch)

    @torch.no_grad()
    def _teach(self, attempt: Attempt, inputs: Tensor, policy: NormPolicy) -> Prediction:
        memory = attempt.state.memory
        return attempt.forward(inputs, memory[TEACHER], policy, memory[STATISTICS])


def rotta(
    *,
    lr: float | None = None,
    optimizer: Kind | None = None,
    memory_size: int = 64,
    samples_per_update: int | None = None,
    momentum: float = 0.999,
    batch_weight: float = 0.05,
    timeliness_weight: float = 1.0,
    uncertainty_weight: float = 1.0,
    augment: Augment | None = None,
) -> Method:
    """Learn from a class-balanced memory; predict with a slow teacher and slow statistics.

    A window only sets how many recent predictions output rules see: updates go by
    ``samples_per_update``.

    Args:
        lr: Learning rate; by default 1e-3 with Adam, 2.5e-4 with SGD.
        optimizer: By default Adam, whatever the size of the images.
        memory_size: Samples to store.
        samples_per_update: Samples between two updates; by default ``memory_size``.
        momentum: Share of the teacher's weights that stays at each update.
        batch_weight: How far an update moves batch-norm statistics towards the memory's.
        timeliness_weight: Of a stored sample's age when the memory chooses.
        uncertainty_weight: Of a stored sample's entropy when the memory chooses.
        augment: Makes the student's view; by default colour jitter, affine warp, blur and noise.
    """
    memory = ClassBalancedMemory(
        memory_size, samples_per_update, timeliness_weight, uncertainty_weight
    )
    return Method(
        (MeanTeacher(momentum), memory),
        norm=running(batch_weight),
        optimizer=OptimizerChoice(optimizer or "adam", lr),
        learner=TeachingFromMemory(augment or ColorAffineBlurNoise()),
    )
