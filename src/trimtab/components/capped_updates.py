"""Update clipping: a cap on how far one batch may move the weights."""

from dataclasses import dataclass

import torch
from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.component import ParameterRule, Start
from trimtab.core.ranges import check_positive
from trimtab.functional import full_copy

KNOWN_UPDATES = 4
"""Before so many, no update is known to be long."""
USUAL_WEIGHT = 0.1
"""Weight of each further update in the usual length."""


@dataclass(frozen=True)
class CappedUpdates(ParameterRule):
    """Shorten an update, with the rules before this one, to a multiple of the usual length.

    The usual length is a moving average of the lengths that were kept, so that one odd batch, of
    noise or of an attacker, moves the weights hardly further than any other.

    Args:
        longest: Most length of an update, as a multiple of the usual one.
    """

    longest: float = 2.0

    dense = True

    def __post_init__(self) -> None:
        check_positive(self, "longest")

    def new_memory(self, start: Start) -> Tensors:
        before = {f"before.{name}": full_copy(value) for name, value in start.source.items()}
        zero = torch.zeros((), device=start.device)
        return {**before, "usual": zero, "updates": zero.clone()}

    def after_update(self, params: Tensors, source: Tensors, memory: Tensors) -> None:
        before = {name: memory[f"before.{name}"] for name in params}
        length = _distance(params, before)
        if float(memory["updates"]) >= KNOWN_UPDATES:
            share = min(1.0, self.longest * float(memory["usual"]) / max(float(length), 1e-30))
            for name, param in params.items() if share < 1 else ():
                param.copy_(before[name].lerp(param.to(before[name].dtype), share))
            length = length * share
        memory["updates"].add_(1)
        weight = max(USUAL_WEIGHT, 1 / float(memory["updates"]))
        memory["usual"].lerp_(length.to(memory["usual"]), weight)
        self.resume(params, memory)

    def resume(self, params: Tensors, memory: Tensors) -> None:
        for name, param in params.items():
            memory[f"before.{name}"].copy_(param)


def _distance(params: Tensors, others: Tensors) -> Tensor:
    """Euclidean distance of two sets of tensors, a scalar."""
    squares = [
        (p.to(others[name].dtype) - others[name]).square().sum() for name, p in params.items()
    ]
    return torch.stack(squares).sum().sqrt()
