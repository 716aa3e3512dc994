"""Entropy minimisation behind an asymmetric predictor (ZeroSiam, arXiv:2509.23183)."""

from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import linear

from trimtab.core.backbone import Tensors
from trimtab.core.component import Objective, Start, Step
from trimtab.core.linear_head import linear_head
from trimtab.core.ranges import check_positive
from trimtab.functional import cross_entropy, entropy


@dataclass(frozen=True)
class SiameseEntropy(Objective):
    """Entropy of head(P z), and its symmetric KL divergence from head(z), which has no gradient.

    P is a matrix before the classifier, the identity at first, that is trained with the stream and
    takes up what would drive the features to a collapse. Predictions are head(z), without it.

    P is the identity plus ``change`` times the root of ``predictor_rate``: for SGD this is P itself
    with so many times the learning rate (for Adam, the root of it).

    Args:
        predictor_rate: Learning rate of P, in multiples of the stream's.
    """

    predictor_rate: float = 10.0

    not_dense = "stands before a linear classifier of features, and pixels have none"

    def __post_init__(self) -> None:
        check_positive(self, "predictor_rate")

    def new_memory(self, start: Start) -> Tensors:
        """The change of P, (features, features), which is trained, and the head's weight."""
        weight = linear_head(start, self.name).weight
        width = weight.shape[1]
        return {"change": weight.new_zeros(width, width).requires_grad_(), "weight": weight}

    def loss(self, step: Step, memory: Tensors) -> Tensor:
        target = step.logits.detach()
        # head(P z) = head(z) + W (P - 1) z, for any bias
        moved = linear(step.features, memory["change"] * self.predictor_rate**0.5)
        online = step.logits + linear(moved, memory["weight"])
        return entropy(online) + symmetric_divergence(online, target)


def symmetric_divergence(left: Tensor, right: Tensor) -> Tensor:
    """KL(left || right) + KL(right || left) of each row's softmax, in nats."""
    there = cross_entropy(left, right) - entropy(left)
    back: Tensor = cross_entropy(right, left) - entropy(right)
    return there + back
