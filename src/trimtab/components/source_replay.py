"""Keep learning from labelled source data along the stream (RMT, arXiv:2211.13081)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from trimtab.core.backbone import Tensors
from trimtab.core.component import Objective, Start, Step
from trimtab.core.source_data import SourceData, endless

Reader = Iterator[tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class SourceReplay(Objective):
    """Cross entropy on the next batch of source data, once for each update.

    A stream remembers how many batches it has read. For a resumed stream to go on exactly,
    ``source_data`` has to come in the same order each time it is iterated.

    Args:
        source_data: Batches of source inputs and labels, read again and again.
    """

    source_data: SourceData = field(compare=False)
    _readers: dict[int, list[Reader]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def new_memory(self, start: Start) -> Tensors:
        """How many batches the stream has read."""
        return {"batches_read": torch.tensor(0)}

    def loss(self, step: Step, memory: Tensors) -> Tensor:
        position = int(memory["batches_read"])
        memory["batches_read"] = torch.tensor(position + 1)
        inputs, labels = self._batch(position, step.logits.shape[1])
        logits = step.forward(inputs.to(step.inputs)).logits
        return cross_entropy(logits, labels.to(logits.device)).expand(len(step.inputs))

    def _batch(self, position: int, classes: int) -> tuple[Tensor, Tensor]:
        """The batch of this number, from a reader that stands there or from a new one."""
        waiting = self._readers.get(position)
        if waiting:
            reader = waiting.pop()
        else:
            reader = islice(endless(self.source_data, classes), position, None)
        self._readers.setdefault(position + 1, []).append(reader)
        return next(reader)
