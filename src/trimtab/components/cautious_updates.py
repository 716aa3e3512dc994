"""Adaptive step size: an update from few samples counts for little."""

from dataclasses import dataclass

import torch
from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.component import ParameterRule, Start
from trimtab.core.ranges import check_positive
from trimtab.functional import full_copy


@dataclass(frozen=True)
class CautiousUpdates(ParameterRule):
    """Keep only a share of an update, and of the rules before this one, that few samples caused.

    Optimisers such as Adam step as far for one sample as for many, and rules such as source
    ensembling pull as hard; with this, single samples move the weights about as far in all as
    the batches that they could have come in.

    Args:
        samples: So many samples with a weight above 0 make a whole update.
    """

    samples: float = 32.0

    not_dense = "counts samples, and the pixels of an image tell about as much as one sample"

    def __post_init__(self) -> None:
        check_positive(self, "samples")

    def new_memory(self, start: Start) -> Tensors:
        before = {f"before.{name}": full_copy(value) for name, value in start.source.items()}
        return {**before, "count": torch.zeros((), device=start.device)}

    def observe(self, losses: Tensor, memory: Tensors) -> None:
        memory["count"].fill_(len(losses))

    def after_update(self, params: Tensors, source: Tensors, memory: Tensors) -> None:
        share = min(float(memory["count"]) / self.samples, 1.0)
        before, after = self._before(params, memory), list(params.values())
        full = [a.to(b.dtype) for a, b in zip(after, before, strict=True)]
        torch._foreach_copy_(after, torch._foreach_lerp(before, full, share))
        torch._foreach_copy_(before, after)

    def resume(self, params: Tensors, memory: Tensors) -> None:
        torch._foreach_copy_(self._before(params, memory), list(params.values()))

    def _before(self, params: Tensors, memory: Tensors) -> list[Tensor]:
        """The parameters before the update, in their order."""
        return [memory[f"before.{name}"] for name in params]
