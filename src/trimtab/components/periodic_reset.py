"""Periodic reset to the source model (RDumb, arXiv:2306.05401)."""

from dataclasses import dataclass

import torch

from trimtab.core.backbone import Tensors
from trimtab.core.component import ResetRule, Start
from trimtab.core.ranges import check_counts


@dataclass(frozen=True)
class PeriodicReset(ResetRule):
    """Forget the stream after ``every`` batches, or windows, that were there to learn from.

    One counts whether or not a sample of it was kept. The batch that completes the period is
    predicted as any other.
    """

    every: int = 1000

    dense = True

    def __post_init__(self) -> None:
        check_counts(self, "every", unit="batch")

    def new_memory(self, start: Start) -> Tensors:
        return {"batches": torch.zeros((), dtype=torch.long, device=start.device)}

    def is_due(self, memory: Tensors) -> bool:
        memory["batches"] += 1
        return int(memory["batches"]) >= self.every
