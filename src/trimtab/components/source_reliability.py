"""Reliability of the source model: how far it is to be returned to (RMemSafe, arXiv:2605.14063)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.component import SourceTrust, Start, Step, Weighting
from trimtab.core.ranges import check_positive
from trimtab.functional import entropy


@dataclass(frozen=True)
class SourceReliability(Weighting, SourceTrust):
    """Scale every pull towards the source by how certain the source model is of these samples.

    The reliability is (1 - H / ln C) ** power with the mean entropy H of the source model's
    predictions: 0 where it guesses among all C classes, 1 where it is certain. Pulls are those of
    weight ensembling, stochastic restoration and Fisher penalties.

    Args:
        power: Above 1, an uncertain source counts for less.
    """

    power: float = 1.0

    not_dense = "was measured for one prediction per sample only"

    def __post_init__(self) -> None:
        check_positive(self, "power")

    def new_memory(self, start: Start) -> Tensors:
        return {"trust": torch.ones((), device=start.device)}

    def weights(self, step: Step, memory: Tensors) -> Tensor:
        """All count alike; this is where an update's samples are seen before it."""
        memory["trust"].fill_(reliability(step.forward_source().logits) ** self.power)
        return torch.ones_like(step.logits[:, 0])

    def trust(self, memory: Tensors) -> float:
        return float(memory["trust"])

    def report(self, memory: Tensors) -> Mapping[str, float]:
        return {"trust": float(memory["trust"])}


def reliability(logits: Tensor) -> float:
    """1 less the mean entropy as a share of the largest, 0 to 1."""
    largest = math.log(max(logits.shape[1], 2))
    return min(max(1 - float(entropy(logits).mean()) / largest, 0.0), 1.0)
