"""Fisher regularisation (EWC) against catastrophic forgetting (EATA, arXiv:2204.02610)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from trimtab.core.backbone import Tensors
from trimtab.core.component import Penalty, Start
from trimtab.core.ranges import check_counts, check_not_negative
from trimtab.core.source_data import SourceInputs, unlabelled
from trimtab.functional import full_copy
from trimtab.image_size import is_small

SMALL_IMAGE_WEIGHT, LARGE_IMAGE_WEIGHT = 1.0, 2000.0


@dataclass(frozen=True)
class FisherPenalty(Penalty):
    """Price of leaving the source weights, squared distance times Fisher information.

    Args:
        source_data: Batches of source inputs, or (inputs, labels) pairs; labels are not used.
            Read whenever a stream begins, so give a list or a loader, not an iterator.
        weight: Factor on the price; None takes 1 for images of up to 64 px a side and 2000 for
            larger ones. The information shrinks with the batch size, so what is right depends
            on it.
        samples: Read batches until they hold this many.
    """

    source_data: SourceInputs | None = field(default=None, compare=False, repr=False)
    weight: float | None = None
    samples: int = 2000

    pulls_to_source = True
    dense = True

    def __post_init__(self) -> None:
        if self.source_data is None:
            raise ValueError(
                "fisher_penalty needs source_data, batches of source inputs, which no spec can "
                "hold; use the method 'eata' with source_data=, or add FisherPenalty(batches)"
            )
        check_not_negative(self, "weight")
        check_counts(self, "samples")

    def new_memory(self, start: Start) -> Tensors:
        default = SMALL_IMAGE_WEIGHT if is_small(start.sample_shape) else LARGE_IMAGE_WEIGHT
        weight = default if self.weight is None else self.weight
        information = fisher_information(start, self._batches(start))
        return {name: weight * value for name, value in information.items()}

    def penalty(self, params: Tensors, source: Tensors, memory: Tensors) -> Tensor:
        prices = [
            (memory[name] * (param - source[name]).square()).sum() for name, param in params.items()
        ]
        return torch.stack(prices).sum()

    def _batches(self, start: Start) -> Iterator[Tensor]:
        assert self.source_data is not None
        count = 0
        for inputs in unlabelled(self.source_data, start.sample_shape):
            yield inputs.to(start.device, start.backbone.dtype)
            count += len(inputs)
            if count >= self.samples:
                return


def fisher_information(start: Start, batches: Iterable[Tensor]) -> Tensors:
    """Diagonal Fisher information of the trained parameters, by their full name.

    As in EATA: the squared gradient of each batch's mean cross entropy against the model's own
    labels, averaged over the batches.
    """
    params = {name: full_copy(value).requires_grad_() for name, value in start.source.items()}
    totals = {name: torch.zeros_like(value) for name, value in params.items()}
    count = 0
    for inputs in batches:
        count += 1
        with torch.enable_grad():
            logits = start.forward(inputs, params).logits
            start.backward(cross_entropy(logits, logits.argmax(1)))
        for name, param in params.items():
            if param.grad is not None:
                totals[name] += param.grad.square()
            param.grad = None
    return {name: total / count for name, total in totals.items()}
