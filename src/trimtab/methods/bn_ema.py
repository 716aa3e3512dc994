"""BN-EMA, BN adaptation by running statistics (after Schneider et al., 2020, arXiv:2006.16971)."""

from dataclasses import dataclass

import torch
from torch import Tensor

from trimtab.core.attempt import Attempt
from trimtab.core.card import Card
from trimtab.core.learner import Learner
from trimtab.core.method import Method
from trimtab.core.norm import SOURCE, NormPolicy

CARD = Card(
    title="BN-EMA",
    paper="a variant of Schneider et al., NeurIPS 2020, arXiv:2006.16971",
    idea=(
        "A first pass moves the stored batch-norm statistics towards the batch, as training "
        "would; a second one predicts with them. No weight changes."
    ),
    helps="Batch-norm networks on slowly changing domains, also where single batches mislead.",
    hurts="Sudden changes of domain, which it follows with a delay, and class-ordered streams.",
    forwards="2",
    backwards="0",
)


@dataclass(frozen=True)
class StatisticsFirst(Learner):
    """Moves the stored statistics towards each batch before it predicts it."""

    keeps_statistics = False

    batch_weight: float = 0.1

    @torch.no_grad()
    def follow(self, attempt: Attempt, inputs: Tensor) -> None:
        """Move the statistics as training does: layers see the batch's, and store a share of it."""
        policy = NormPolicy(1.0, keep_weight=self.batch_weight, unbiased=True)
        attempt.forward_in_parts(inputs, policy)

    def advance(self, attempt: Attempt, inputs: Tensor) -> Tensor:
        self.follow(attempt, inputs)
        return super().advance(attempt, inputs)


def bn_ema(*, batch_weight: float = 0.1) -> Method:
    """Follow the stream with the stored statistics and predict with them; learn nothing.

    A ``window`` changes nothing of this: statistics move with every batch as it comes.

    Args:
        batch_weight: How far the stored statistics move towards each batch.
    """
    if not 0 <= batch_weight <= 1:
        raise ValueError(f"batch_weight must lie in [0, 1], got {batch_weight}")
    return Method(norm=SOURCE, learner=StatisticsFirst(batch_weight))
