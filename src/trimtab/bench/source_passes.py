"""Plain passes of the source model, shared by the runs of one stream in one process.

Every run is scored beside the source model and timed against its plain pass. The predictions are
the same in all runs of a stream, so they are made once; later runs repeat one pass in
``TIMED_EVERY``, for the clock alone.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from trimtab.bench.clock import timed
from trimtab.core.backbone import Backbone

TIMED_EVERY = 8
"""Batches for each that is timed where predictions are known already."""

MOST_BYTES = 32 * 1024**2
"""Most bytes of predictions that are kept of one stream; a larger one is predicted in each run."""

MOST_STREAMS = 8
"""Streams whose predictions are kept at a time."""


@dataclass(eq=False)
class SourcePasses:
    """The source model on the batches of one stream, from the first batch on.

    Args:
        made: Predictions so far, as long as they are no more than ``MOST_BYTES``; then none.
    """

    backbone: Backbone
    known: tuple[Tensor, ...] = ()
    made: list[Tensor] = field(default_factory=list)
    batches: int = 0
    made_bytes: int = 0

    def __call__(self, inputs: Tensor) -> tuple[Tensor, float | None]:
        """Logits of the next batch, and the seconds its pass took if there was one."""
        place = self.batches
        self.batches += 1
        if place < len(self.known) and place % TIMED_EVERY:
            self._note(self.known[place])
            return self.known[place], None
        logits, seconds = timed(_plain, self.backbone, inputs)
        self._note(logits)
        return logits, seconds

    def _note(self, logits: Tensor) -> None:
        """Hold predictions while they are few: those of all pixels of a stream fill the memory."""
        self.made_bytes += logits.nbytes
        if self.made_bytes <= MOST_BYTES:
            self.made.append(logits)
        else:
            self.made.clear()


_KNOWN: dict[Hashable, tuple[Tensor, ...]] = {}


def source_passes(stream: Hashable, backbone: Backbone) -> SourcePasses:
    """Passes over a stream, which is the same wherever ``stream`` is equal."""
    return SourcePasses(backbone, _KNOWN.get(stream, ()))


def keep(stream: Hashable, passes: SourcePasses) -> None:
    """Remember the predictions of a stream that was followed to its end."""
    if passes.made_bytes > MOST_BYTES:
        return
    _KNOWN.pop(stream, None)
    _KNOWN[stream] = tuple(passes.made)
    while len(_KNOWN) > MOST_STREAMS:
        del _KNOWN[next(iter(_KNOWN))]


@torch.no_grad()
def _plain(backbone: Backbone, inputs: Tensor) -> Tensor:
    return backbone(inputs).logits
