"""Streams that ranks share: one for each method, cut into uneven and empty shards."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
import torch.distributed as dist
from torch import Tensor

import trimtab
from contract.recipes import NORMS, options_of, rotated
from reference import nets

SHARDS = {2: [(11, 5), (0, 16), (1, 0)], 3: [(13, 0, 3), (0, 2, 0)]}
"""Samples of each rank, call by call, by the number of ranks."""

GOLDEN = Path(nets.__file__).parent / "golden.safetensors"


def recorded() -> dict[str, Tensor]:
    return safetensors.torch.load_file(GOLDEN)


def samples(dtype: torch.dtype = torch.float32) -> Tensor:
    """96 images, (96, 3, 16, 16) in [0, 1]."""
    return nets.images(recorded()).flatten(0, 1).to(dtype)


def norms_of(method: str, size: int) -> list[str]:
    """One kind of norm for a method: another with another number of ranks."""
    return [NORMS[(NORMS.index(rotated(method)) + size) % len(NORMS)]]


def start(method: str, norm: str, dtype: torch.dtype, **options: Any) -> trimtab.Adapter:
    known = options_of(method, recorded())
    if "source_data" in known:
        known["source_data"] = [(x.to(dtype), y) for x, y in known["source_data"]]
    model = nets.trained(norm, recorded()).to(dtype)
    return trimtab.adapt(model, method, **known, **options)


def shards(size: int, dtype: torch.dtype) -> Iterator[tuple[Tensor, ...]]:
    """The batches of all ranks, call by call."""
    rest = samples(dtype)
    for cut in SHARDS[size]:
        batch, rest = rest[: sum(cut)], rest[sum(cut) :]
        yield batch.split(cut)


def every_method(group: dist.ProcessGroup, dtype: str, *norms: str) -> dict[str, Any]:
    """What this rank gets of each method's stream, and the state it ends with."""
    kind, rank, size = getattr(torch, dtype), dist.get_rank(group), dist.get_world_size(group)
    found = {}
    for method in trimtab.METHODS:
        for norm in norms or norms_of(method, size):
            adapter = start(method, norm, kind, process_group=group)
            logits = [adapter(parts[rank]) for parts in shards(size, kind)]
            found[f"{method}-{norm}"] = {"logits": logits, "state": adapter.state_dict()}
    return found
