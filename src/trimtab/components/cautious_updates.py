"""Adaptive step size: an update from few samples, or from few classes, counts for little."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.component import ParameterRule, Start, Step, Weighting
from trimtab.core.ranges import check_positive
from trimtab.core.shares import effective_classes, expected_entropy
from trimtab.functional import full_copy

HORIZON, LONG = 64, 4096
"""Samples over which the classes of predictions are counted, the latest most: now, and usually."""


@dataclass(frozen=True)
class CautiousUpdates(Weighting, ParameterRule):
    """Keep only a share of an update, and of the rules before this one, that few samples caused.

    Optimisers such as Adam step as far for one sample as for many, and rules such as source
    ensembling pull as hard; with this, single samples move the weights about as far in all as
    the batches that they could have come in.

    Batches of one class, one after the other, teach a network to say what it says: ROID's
    weights compare samples with each other, and there is nobody else to compare with.

    Args:
        samples: So many samples with a weight above 0 make a whole update.
        variety: So many classes make a whole update, as a share of those that independent samples
            show, or that the stream has shown at all: with fewer in the latest predictions, the
            square of what there is stays. None counts no classes.
    """

    samples: float = 32.0
    variety: float | None = None

    not_dense = "counts samples, and the pixels of an image tell about as much as one sample"

    def __post_init__(self) -> None:
        check_positive(self, "samples", "variety")

    def new_memory(self, start: Start) -> Tensors:
        before = {f"before.{name}": full_copy(value) for name, value in start.source.items()}
        zero = torch.zeros((), device=start.device)
        memory = {**before, "count": zero}
        if self.variety is not None:
            memory["shown"] = torch.zeros(start.num_classes, device=start.device)
            memory["usual"] = memory["shown"].clone()
            memory["seen"] = zero.clone()
        return memory

    def weights(self, step: Step, memory: Tensors) -> Tensor:
        """All alike; takes note of the classes that are predicted."""
        logits = step.logits
        if self.variety is not None:
            said = torch.nn.functional.one_hot(logits.argmax(1), logits.shape[1]).float()
            ages = torch.arange(len(said) - 1, -1, -1, device=said.device)
            for name, horizon in (("shown", HORIZON), ("usual", LONG)):
                kept = 1 - 1 / horizon
                memory[name].mul_(kept ** len(said)).add_((kept**ages).to(said) @ said)
            memory["seen"].add_(len(said))
        return torch.ones_like(logits[:, 0])

    def observe(self, losses: Tensor, memory: Tensors) -> None:
        memory["count"].fill_(len(losses))

    def after_update(self, params: Tensors, source: Tensors, memory: Tensors) -> None:
        share = min(float(memory["count"]) / self.samples, 1.0) * self._by_classes(memory)
        before, after = self._before(params, memory), list(params.values())
        full = [a.to(b.dtype) for a, b in zip(after, before, strict=True)]
        torch._foreach_copy_(after, torch._foreach_lerp(before, full, share))
        torch._foreach_copy_(before, after)

    def resume(self, params: Tensors, memory: Tensors) -> None:
        torch._foreach_copy_(self._before(params, memory), list(params.values()))

    def _by_classes(self, memory: Tensors) -> float:
        """The share of an update that the variety of the latest predictions leaves."""
        if self.variety is None or not float(memory["seen"]):
            return 1.0
        counts = [memory[name].double() for name in ("shown", "usual")]
        now, usually = (effective_classes(count / count.sum()) for count in counts)
        samples = min(int(memory["seen"]), 2 * HORIZON)
        independent = math.exp(expected_entropy(samples, len(counts[0])))
        found = now / min(independent, usually)
        return float(min(found / self.variety, 1.0) ** 2)

    def _before(self, params: Tensors, memory: Tensors) -> list[Tensor]:
        """The parameters before the update, in their order."""
        return [memory[f"before.{name}"] for name in params]
