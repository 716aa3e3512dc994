"""BN-EMA: statistics that follow the stream (after Schneider et al., 2020, arXiv:2006.16971)."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from trimtab.core.adapter import Adapter
from trimtab.core.backbone import Backbone
from trimtab.core.card import Card
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
class StatisticsFirst(Method):
    """A method that moves the stored statistics towards each batch before it predicts it."""

    batch_weight: float = 0.1

    def start(self, backbone: Backbone, **options: Any) -> Adapter:
        return StatisticsFirstAdapter(backbone, self, **options)


class StatisticsFirstAdapter(Adapter):
    """One stream of a ``StatisticsFirst`` method."""

    method: StatisticsFirst

    def _advance(self, inputs: Tensor) -> Tensor:
        self._follow(inputs)
        return super()._advance(inputs)

    @torch.inference_mode(False)
    def predict(self, inputs: Tensor) -> Tensor:
        """The logits that a call would return now, learning nothing and changing nothing."""
        inputs = self._admit(inputs)
        counters, statistics = replace(self.counters), dict(self.statistics)
        self._follow(inputs)
        logits = super().predict(inputs)
        self.counters, self.statistics = counters, statistics
        return logits

    @torch.no_grad()
    def _follow(self, inputs: Tensor) -> None:
        """Move the statistics as training does: layers see the batch's, and store a share of it."""
        weight = self.method.batch_weight
        self._forward_in_parts(inputs, NormPolicy(1.0, keep_weight=weight, unbiased=True))


def bn_ema(*, batch_weight: float = 0.1) -> Method:
    """Follow the stream with the stored statistics and predict with them; learn nothing.

    A ``window`` changes nothing of this: statistics move with every batch as it comes.

    Args:
        batch_weight: How far the stored statistics move towards each batch.
    """
    if not 0 <= batch_weight <= 1:
        raise ValueError(f"batch_weight must lie in [0, 1], got {batch_weight}")
    return StatisticsFirst(norm=SOURCE, batch_weight=batch_weight)
