"""Memory of gradients: as many samples at once as a limit allows (``micro_batch="auto"``)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from trimtab.core.backbone import Backbone, Tensors
from trimtab.core.norm import BATCH
from trimtab.core.ranges import check_whole
from trimtab.core.structured import joined_inputs

MicroBatch = int | Literal["auto"] | None

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
ROOM = 1.25
"""Factor on what graphs hold, for what comes and goes while they are made."""


@dataclass(frozen=True)
class MemoryLimit:
    """Most memory that an update's graphs may take, beside the model and the samples themselves.

    Args:
        size: In bytes.
    """

    size: int

    def __str__(self) -> str:
        return f"auto, {self.size} bytes"

    def samples(self, backbone: Backbone, params: Tensors, sample: Tensor, graphs: int) -> int:
        """How many samples to hold at once, at least one.

        Args:
            params: What is trained.
            sample: A batch of one.
            graphs: Of each sample, alive at the same time: its own and those of its views.
        """
        key = "graph bytes", tuple(sample.shape[1:]), sample.dtype, frozenset(params)
        if key not in backbone.shared:
            backbone.shared[key] = bytes_of_a_sample(backbone, params, sample)
        each = ROOM * graphs * backbone.shared[key]
        return max(1, int(self.size / max(each, 1)))


def limited(micro_batch: MicroBatch, memory_limit: int | str | None) -> int | MemoryLimit | None:
    """What an adapter takes: a number of samples, or a limit that one follows from."""
    if micro_batch != "auto":
        if memory_limit is not None:
            raise ValueError('memory_limit= belongs to micro_batch="auto"')
        return micro_batch
    if memory_limit is None:
        raise ValueError('micro_batch="auto" needs a limit: memory_limit="2GB", say')
    return MemoryLimit(bytes_in(memory_limit))


def check(micro_batch: object) -> None:
    """Refuse what is neither a limit nor a number of samples."""
    if not isinstance(micro_batch, MemoryLimit):
        check_whole("micro_batch", micro_batch, "sample")  # type: ignore[arg-type]


def bytes_in(limit: int | str) -> int:
    """A number of bytes, or words such as ``"2GB"`` and ``"500 MB"`` (of 1,024 each)."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?\s*", str(limit), re.IGNORECASE)
    size = int(float(found[1]) * UNITS[found[2].upper()]) if found else 0
    if isinstance(limit, bool) or size < 1:
        raise ValueError(f'memory_limit must be bytes or words such as "2GB", got {limit!r}')
    return size


def bytes_of_a_sample(backbone: Backbone, params: Tensors, sample: Tensor) -> float:
    """Bytes that the graph of a pass holds for each sample, seen on passes of two and four."""
    two, four = (_held(backbone, params, joined_inputs([sample] * count)) for count in (2, 4))
    return max((four - two) / 2, 1.0)


def _held(backbone: Backbone, params: Tensors, inputs: Tensor) -> int:
    """Bytes of all that a pass saves for its way back, each piece of memory once."""
    found: dict[int, int] = {}
    with torch.autograd.graph.saved_tensors_hooks(_noting(found), lambda saved: saved):
        own = {name: p.detach().to(backbone.dtype).requires_grad_() for name, p in params.items()}
        with torch.enable_grad():
            prediction = backbone(inputs, own, dict(backbone.statistics), BATCH)
    del prediction
    return sum(found.values())


def _noting(found: dict[int, int]) -> Callable[[Tensor], Any]:
    def note(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        found[storage.data_ptr()] = storage.nbytes()
        return tensor

    return note
