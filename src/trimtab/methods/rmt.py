"""RMT (Döbler, Marsden and Yang, CVPR 2023, arXiv:2211.13081)."""

from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

import torch
from torch import Tensor

from trimtab.augment import Augment
from trimtab.components.mean_teacher import MeanTeacher
from trimtab.components.prototype_contrast import PrototypeContrast
from trimtab.components.source_replay import SourceReplay
from trimtab.core.adapter import Adapter
from trimtab.core.backbone import Backbone, weights_and_biases
from trimtab.core.card import Card
from trimtab.core.component import Component, OutputRule
from trimtab.core.method import Method
from trimtab.core.optimizer import Kind, OptimizerChoice
from trimtab.core.source_data import SourceData, endless
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
class WarmedUp(Method):
    """A recipe whose streams begin with some steps on source data."""

    source_data: SourceData = field(default=(), compare=False)
    warm_up_samples: int = 50_000

    def start(self, backbone: Backbone, **options: Any) -> Adapter:
        return WarmedUpAdapter(backbone, self, **options)


class WarmedUpAdapter(Adapter):
    """A stream that begins, and begins again after a reset, from warmed-up weights."""

    method: WarmedUp

    def _begin(self, sample_shape: tuple[int, ...]) -> None:
        super()._begin(sample_shape)
        self._warm_up()
        self._mark_start()
        self._warmed = self.state_dict()

    def _warm_up(self) -> None:
        """Student and teacher agree on source inputs, at a learning rate that rises linearly."""
        assert self.optimizer is not None
        classes = self.backbone.num_classes or 0
        batches = (inputs for inputs, _ in endless(self.method.source_data, classes))
        first = next(batches)
        steps = max(1, self.method.warm_up_samples // len(first))
        rates = [group["lr"] for group in self.optimizer.param_groups]
        for number, inputs in enumerate(islice(chain([first], batches), steps), start=1):
            for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
                group["lr"] = rate * number / steps
            self._agree(inputs.to(self.backbone.device, self.backbone.dtype))

    @torch.enable_grad()
    def _agree(self, inputs: Tensor) -> None:
        step = self._step(inputs, self._forward_again(inputs))
        step = self._with_targets(step, self.memory, OutputRule)
        teacher = step.targets["mean_teacher"]["logits"]
        loss = symmetric_cross_entropy(step.logits, teacher).mean()
        (loss * self._loss_scale).backward()
        self._update(bool(loss.isfinite()))

    @torch.inference_mode(False)
    def reset(self) -> None:
        super().reset()
        if self.sample_shape is None:
            return
        with torch.no_grad():
            for name, param in self.params.items():
                param.copy_(self._warmed["params"][name])
        moments = self._warmed["optimizer"].items()
        self.restore_optimizer(
            {int(i): {key: value.clone() for key, value in slots.items()} for i, slots in moments}
        )


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
        optimizer: By default Adam for images of up to 64 px a side, SGD with Nesterov momentum
            0.9 for larger ones.
        momentum: Of the teacher's weights.
        temperature: Of the contrastive loss.
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
    choice = OptimizerChoice(optimizer, lr, sgd_lr=0.01)
    if source_data is None or not warm_up_samples:
        return Method(tuple(components), trains=weights_and_biases, optimizer=choice)
    return WarmedUp(
        tuple(components),
        trains=weights_and_biases,
        optimizer=choice,
        source_data=source_data,
        warm_up_samples=warm_up_samples,
    )
