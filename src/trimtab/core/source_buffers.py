"""Buffers that a model writes into as it predicts: each pass begins with the source's values."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass
class Held:
    """A buffer, whose storage the user's model shares, and a copy of its values.

    Args:
        is_written: Whether a pass was seen to write into it.
    """

    module: nn.Module
    name: str
    buffer: Tensor
    value: Tensor
    is_written: bool = False


class SourceBuffers:
    """Observers of quantisation, running averages, counters of calls, and those never written.

    Args:
        besides: Layers whose buffers are seen to elsewhere.
    """

    def __init__(self, model: nn.Module, besides: Sequence[nn.Module]) -> None:
        self._all = [
            Held(module, name, buffer, buffer.clone())
            for module in model.modules()
            for name, buffer in module._buffers.items()
            if buffer is not None and module not in besides
        ]

    @contextmanager
    def kept(self) -> Iterator[None]:
        """A pass that leaves all of them as they are.

        One that is known to be written into is replaced by a copy for the pass: what has a
        gradient must not be written into once more.
        """
        versions = [held.buffer._version for held in self._all]
        for held in self._all:
            if held.is_written:
                held.module._buffers[held.name] = held.value.clone()
        try:
            yield
        finally:
            for held, version in zip(self._all, versions, strict=True):
                held.module._buffers[held.name] = held.buffer
                if held.buffer._version != version:
                    held.is_written = True
                    with torch.no_grad():
                        held.buffer.copy_(held.value)
