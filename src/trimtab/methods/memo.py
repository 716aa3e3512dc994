"""MEMO: marginal entropy over augmentations (Zhang, Levine, Finn, 2022, arXiv:2110.09506)."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from trimtab.augment import Augment, augmented
from trimtab.augment.augmix import AugMix
from trimtab.components.marginal_entropy import MarginalEntropy
from trimtab.core.attempt import Attempt
from trimtab.core.backbone import weights_and_biases
from trimtab.core.card import Card
from trimtab.core.component import Recall, Step
from trimtab.core.learner import Learner
from trimtab.core.method import Method
from trimtab.core.norm import NormPolicy
from trimtab.core.optimizer import Kind, OptimizerChoice
from trimtab.core.prediction import Prediction, joined
from trimtab.core.ranges import check_counts
from trimtab.image_size import is_small

CARD = Card(
    title="MEMO",
    paper="Zhang, Levine and Finn, NeurIPS 2022, arXiv:2110.09506",
    idea=(
        "Adapts to each image alone: one step that makes many augmented views of it agree on a "
        "certain prediction, then the prediction, then all is forgotten. Batch norms mix a tenth "
        "of the views' statistics into the source's."
    ),
    helps="Unrelated single images, whatever order they come in.",
    hurts="Wherever time matters; it gains nothing from a stream, since it keeps nothing.",
    forwards="33 (65 for images of more than 64 px a side)",
    backwards="32 (64 for images of more than 64 px a side)",
)


@dataclass(frozen=True)
class Episodic(Learner):
    """Begins again with each image: between two, the stream's parameters are the source's.

    A window only sets how many recent predictions output rules see.
    """

    augment: Augment = field(default_factory=AugMix)
    views: int | None = None

    def __post_init__(self) -> None:
        check_counts(self, "views")

    def check(self, method: Method) -> None:
        if method.playing(Recall):
            raise ValueError(
                "this method learns from each image alone and forgets it, so it takes no "
                f"component that stores samples, got {method.playing(Recall)[0].name}"
            )

    def foresee(self, attempt: Attempt, inputs: Tensor) -> Tensor:
        """The same episodes as in a call: they are how an image is predicted."""
        attempt.take_turn(inputs)
        return self.advance(attempt, inputs)

    def predict(self, attempt: Attempt, inputs: Tensor) -> Prediction:
        policy = self.first_norm(attempt, len(inputs))
        return joined([self._episode(attempt, image, policy) for image in inputs.split(1)])

    def _episode(self, attempt: Attempt, image: Tensor, policy: NormPolicy) -> Prediction:
        """What the network says of one image, once it has learned from its views."""
        if not attempt.learning:
            return attempt.forward(image, None, policy)
        count = self.views or (32 if is_small(tuple(image.shape[1:])) else 64)
        copies = image.expand(count, *image.shape[1:])
        views = augmented(self.augment, copies, attempt.state.generator)
        with torch.set_grad_enabled(not attempt.is_micro_batched(views)):
            prediction = attempt.forward(views, None, policy)
        self.learn(attempt, attempt.step(views, prediction), attempt.micro_batch or count)
        with torch.no_grad():
            prediction = attempt.forward(image, None, policy)
        attempt.back_to_source()
        return prediction

    def learn_or_wait(self, attempt: Attempt, step: Step) -> None:
        """Nothing is left to learn: each image was learned from on its own."""
        self.reset_if_due(attempt)


def memo(
    *,
    lr: float | None = None,
    optimizer: Kind | None = None,
    views: int | None = None,
    batch_weight: float = 0.1,
    augment: Augment | None = None,
) -> Method:
    """For each image, make views of it agree, predict, and forget.

    Trains the tensors that their layers call weight or bias. Images of a batch are treated one by
    one, so the batch size is no matter; with ``micro_batch`` below ``views``, the views of each
    micro-batch agree among themselves.

    Args:
        lr: Learning rate; with SGD by default 5e-3 for images of up to 64 px a side, 2.5e-4 for
            larger ones, 1e-3 with Adam.
        optimizer: By default SGD with Nesterov momentum 0.9, whatever the size of the images.
        views: Augmented views of an image; by default 32 for images of up to 64 px a side, 64 for
            larger ones.
        batch_weight: Share of the views' statistics in batch norms.
        augment: Makes one view of each image of a batch of copies; by default AugMix.
    """
    return Method(
        (MarginalEntropy(),),
        norm=NormPolicy(batch_weight, unbiased=True, differentiable=False),
        trains=weights_and_biases,
        optimizer=OptimizerChoice(optimizer or "sgd", lr, small_sgd_lr=5e-3),
        learner=Episodic(augment or AugMix(), views),
    )
