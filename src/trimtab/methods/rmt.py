"""RMT: robust mean teacher with contrast (Döbler, Marsden and Yang, 2023, arXiv:2211.13081)."""

from dataclasses import dataclass, field
from itertools import chain, islice

import torch
from torch import Tensor

from trimtab.augment import Augment
from trimtab.components.mean_teacher import MeanTeacher
from trimtab.components.prototype_contrast import PrototypeContrast
from trimtab.components.source_replay import SourceReplay
from trimtab.core import gradients
from trimtab.core.attempt import Attempt
from trimtab.core.backbone import weights_and_biases
from trimtab.core.card import Card
from trimtab.core.component import Component, OutputRule
from trimtab.core.finite import is_finite
from trimtab.core.learner import Learner
from trimtab.core.method import Method
from trimtab.core.optimizer import Kind, OptimizerChoice
from trimtab.core.source_data import SourceData, endless
from trimtab.core.update import update
from trimtab.functional import symmetric_cross_entropy

CARD = Card(
    title="RMT",
    paper="Döbler, Marsden and Yang, CVPR 2023, arXiv:2211.13081",
    idea=(
        "Student and averaged teacher agree by a symmetric cross entropy, whose gradients stay "
        "even, while a contrastive loss keeps test features near class prototypes of the source. "
        "The logits of both networks are added."
    ),
    helps="Continual streams with large batches of mixed classes, best with source data at hand.",
    hurts="Single samples and class-ordered batches on batch-norm networks.",
    forwards="3 (student twice, teacher; 4 with replay)",
    backwards="2 (3 with replay)",
    source_data="optional: class means as prototypes, replay, warm-up",
)


@dataclass(frozen=True)
class WarmedUp(Learner):
    """Begins a stream, and begins it again after a reset, with some steps on source data.

    Student and teacher agree on source inputs, at a learning rate that rises linearly.
    """

    source_data: SourceData = field(default=(), compare=False)
    warm_up_samples: int = 50_000

    def warm_up(self, attempt: Attempt) -> None:
        backbone = attempt.backbone
        batches = (inputs for inputs, _ in endless(self.source_data, backbone.num_classes or 0))
        first = next(batches)
        steps = max(1, self.warm_up_samples // len(first))
        for number, inputs in enumerate(islice(chain([first], batches), steps), start=1):
            self._agree(attempt, inputs.to(backbone.device, backbone.dtype), number / steps)

    @torch.enable_grad()
    def _agree(self, attempt: Attempt, inputs: Tensor, rate: float) -> None:
        step = self.step(attempt, inputs, self.further_pass(attempt, inputs))
        step = gradients.with_targets(attempt, step, OutputRule)
        teacher = step.targets["mean_teacher"]["logits"]
        loss = symmetric_cross_entropy(step.logits, teacher).mean()
        attempt.backward(loss)
        update(attempt, is_finite(loss), rate=rate)


def rmt(
    *,
    source_data: SourceData | None = None,
    replay: bool = False,
    warm_up_samples: int = 0,
    lr: float | None = None,
    optimizer: Kind | None = None,
    momentum: float = 0.999,
    temperature: float = 0.1,
    augment: Augment | None = None,
) -> Method:
    """Agree with an averaged teacher, stay near the prototypes, return the sum of both logits.

    Trains the tensors that their layers call weight or bias, and a projector. Needs no source
    data: without, the rows of the classifier's weights serve as prototypes. The paper uses all
    three of ``source_data``, ``replay`` and 50 000 ``warm_up_samples``.

    Args:
        source_data: Batches of source inputs and labels, whose class means are the prototypes.
        replay: Learn from a batch of source data in each update, too.
        warm_up_samples: Source samples on which student and teacher agree before the first batch.
        lr: Learning rate; by default 1e-3 with Adam, 0.01 with SGD.
        optimizer: ``"adam"`` or ``"sgd"``; by default the one for the size of the images.
        momentum: Share of the teacher's weights that stays at each update.
        temperature: Temperature of the contrastive loss.
        augment: Makes the student's view; by default colour jitter, affine warp, blur and noise.
    """
    if source_data is None and (replay or warm_up_samples):
        raise ValueError(
            "replay and warm_up_samples need source_data=, batches of source inputs and labels; "
            "without it, leave both out"
        )
    components: list[Component] = [
        MeanTeacher(
            momentum, symmetric=True, augmented_student=True, returns="sum", augment=augment
        ),
        PrototypeContrast(source_data, temperature, augment=augment),
    ]
    if source_data is not None and replay:
        components.append(SourceReplay(source_data))
    learner = Learner()
    if source_data is not None and warm_up_samples:
        learner = WarmedUp(source_data, warm_up_samples)
    return Method(
        tuple(components),
        trains=weights_and_biases,
        optimizer=OptimizerChoice(optimizer, lr, sgd_lr=0.01),
        learner=learner,
    )
