"""Preallocated memory for samples that wait for an update, side by side (gradient accumulation)."""

import torch
from torch import Tensor


class Buffer:
    """Room for the samples of a window, so that all of them are one tensor without a copy.

    Copies of a window share it: a place is filled by whoever comes to it first and never written
    into again. Whoever comes second has to keep its samples elsewhere from there on.

    Args:
        like: A batch of such samples.
        size: How many there will be.
    """

    def __init__(self, like: Tensor, size: int) -> None:
        self.values = like.new_empty(size, *like.shape[1:])
        self._takers: dict[int, object] = {}

    @torch.no_grad()
    def put(self, start: int, batch: Tensor) -> Tensor | None:
        """The batch as rows of the buffer; None where it does not fit or its place is taken."""
        stop, taker = start + len(batch), object()
        if stop > len(self.values) or _kind(batch) != _kind(self.values):
            return None
        if self._takers.setdefault(start, taker) is not taker:  # one step, also between threads
            return None
        return self.values[start:stop].copy_(batch)


def _kind(batch: Tensor) -> tuple[object, ...]:
    return batch.shape[1:], batch.dtype, batch.device, batch.is_contiguous()
