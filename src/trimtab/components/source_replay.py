"""Source replay: labelled source data along the stream (RMT, arXiv:2211.13081)."""

from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from trimtab.core.backbone import Tensors
from trimtab.core.component import Objective, Start, Step
from trimtab.core.source_data import Bookmarks, SourceData


@dataclass(frozen=True)
class SourceReplay(Objective):
    """Cross entropy on the next batch of source data, once for each update.

    A stream remembers how many batches it has read. For a resumed stream to go on exactly,
    ``source_data`` has to come in the same order each time it is iterated.

    Args:
        source_data: Batches of source inputs and labels, read again and again.
    """

    source_data: SourceData = field(compare=False)
    bookmarks: Bookmarks = field(init=False, repr=False, compare=False)

    not_dense = "replays source samples that have one label each"

    def __post_init__(self) -> None:
        object.__setattr__(self, "bookmarks", Bookmarks(self.source_data))

    def new_memory(self, start: Start) -> Tensors:
        """How many batches the stream has read."""
        return {"batches_read": torch.tensor(0)}

    def loss(self, step: Step, memory: Tensors) -> Tensor:
        position = int(memory["batches_read"])
        memory["batches_read"] = torch.tensor(position + 1)
        inputs, labels = self.bookmarks.batch(position, step.logits.shape[1])
        logits = step.forward(inputs.to(step.inputs)).logits
        return cross_entropy(logits, labels.to(logits.device)).expand(len(step.inputs))
