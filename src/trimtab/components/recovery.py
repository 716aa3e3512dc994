"""Model recovery: reset when the loss is too good to be true (SAR, arXiv:2302.12400)."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import torch
from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.component import ParameterRule, Start
from trimtab.core.ranges import check_shares


@dataclass(frozen=True)
class Recovery(ParameterRule):
    """Model recovery: source weights again once the loss's moving average is below ``min_loss``.

    The average begins anew then. The optimiser's velocity stays, as in the reference, so the
    next update still moves along it.

    Args:
        min_loss: In the unit of the loss; for an entropy, nats, whatever the number of classes.
        momentum: Of the moving average.
    """

    min_loss: float = 0.2
    momentum: float = 0.9

    later_memory: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType({"mean_loss": ()})

    dense = True

    def __post_init__(self) -> None:
        check_shares(self, "momentum")

    def new_memory(self, start: Start) -> Tensors:
        return {"recoveries": torch.zeros((), dtype=torch.long, device=start.device)}

    def observe(self, losses: Tensor, memory: Tensors) -> None:
        if len(losses):
            mean = losses.mean()
            memory["mean_loss"] = memory.get("mean_loss", mean).lerp(mean, 1 - self.momentum)

    def after_update(self, params: Tensors, source: Tensors, memory: Tensors) -> None:
        if "mean_loss" in memory and bool(memory["mean_loss"] < self.min_loss):
            for name, param in params.items():
                param.copy_(source[name])
            del memory["mean_loss"]
            memory["recoveries"] += 1
