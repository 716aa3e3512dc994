"""Streams that ranks share: one for each method, cut into uneven and empty shards."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import safetensors.torch
import torch
import torch.distributed as dist
from torch import Tensor, nn

import trimtab
from contract.recipes import NORMS, options_of, rotated
from reference import nets

SHARDS = {2: [(11, 5), (0, 16), (1, 0)], 3: [(13, 0, 3), (0, 2, 0)]}
"""Samples of each rank, call by call, by the number of ranks."""

GOLDEN = Path(nets.__file__).parent / "golden.safetensors"


@cache
def recorded() -> dict[str, Tensor]:
    return safetensors.torch.load_file(GOLDEN)


def samples(dtype: torch.dtype = torch.float32) -> Tensor:
    """96 images, (96, 3, 16, 16) in [0, 1]."""
    return nets.images(recorded()).flatten(0, 1).to(dtype)


class Case(NamedTuple):
    """A stream to compare."""

    method: str
    norm: str
    options: dict[str, Any]


def cases(size: int) -> dict[str, Case]:
    """Every method, on another kind of norm with another number of ranks; settings; odd nets.

    Three ranks differ from two in how batches are cut, which no method sees: every other one is
    tried there.
    """
    found = {}
    for method in list(trimtab.METHODS)[:: 1 if size == 2 else 2]:
        norm = NORMS[(NORMS.index(rotated(method)) + size) % len(NORMS)]
        found[method] = Case(method, norm, {})
    return found | (FURTHER if size == 2 else {})


FURTHER = {
    "window, bn": Case("roid", "bn", {"window": 10}),
    "window, gn": Case("roid", "gn", {"window": 10}),
    "micro-batches": Case("tent", "bn", {"micro_batch": 5}),
    "budget": Case("roid", "ln", {"budget": 1.5}),
    "budget by itself": Case("roid", "bn", {"budget": "auto"}),
    "composition": Case("roid + adaptive_norm + mean_teacher + class_balanced_memory", "bn", {}),
    "running statistics": Case("tent + adaptive_norm", "bn", {"window": 10}),
    "batch norm that stores nothing": Case("tent", "untracked", {}),
    "batch norm of features": Case("tent", "flat", {}),
    "not finite where bright": Case("tent", "fragile", {}),
    "medians": Case("tent + median_norm", "bn", {}),
    "guard": Case("roid", "bn", {"guard": True}),
}


class Fragile(nn.Module):
    """Gives NaN for samples that are brighter than most."""

    def forward(self, x: Tensor) -> Tensor:
        bright = x.flatten(1).mean(1) > 0.5
        return torch.where(bright.view(-1, 1, 1, 1), torch.nan, x)


def net(norm: str) -> nn.Module:
    """A trained net with this kind of norm layer, or an odd one made of it."""
    if norm in NORMS:
        return nets.trained(norm, recorded())
    trained = nets.trained("bn", recorded())
    if norm == "untracked":
        for layer in trained.modules():
            if isinstance(layer, nn.BatchNorm2d):
                layer.track_running_stats = False
                layer.running_mean = layer.running_var = None
    elif norm == "flat":
        trained.encoder.append(nn.BatchNorm1d(16))
    elif norm == "fragile":
        trained.encoder.insert(0, Fragile())
    return trained


def start(case: Case, dtype: torch.dtype, **options: Any) -> trimtab.Adapter:
    known = options_of(case.method, recorded()) if case.method in trimtab.METHODS else {}
    if "source_data" in known:
        known["source_data"] = [(x.to(dtype), y) for x, y in known["source_data"]]
    model = net(case.norm).to(dtype)
    return trimtab.adapt(model, case.method, **known, **case.options, **options)


def shards(size: int, dtype: torch.dtype) -> Iterator[tuple[Tensor, ...]]:
    """The batches of all ranks, call by call."""
    rest = samples(dtype)
    for cut in SHARDS[size]:  # type: ignore[attr-defined]
        batch, rest = rest[: sum(cut)], rest[sum(cut) :]
        yield batch.split(cut)


def every_case(group: dist.ProcessGroup, dtype: str) -> dict[str, Any]:
    """What this rank gets of each stream, and the state it ends with."""
    kind, rank, size = getattr(torch, dtype), dist.get_rank(group), dist.get_world_size(group)
    found = {}
    for name, case in cases(size).items():
        adapter = start(case, kind, process_group=group)
        logits = [adapter(parts[rank]) for parts in shards(size, kind)]
        foreseen = adapter.predict(samples(kind)[80 + 3 * rank :][:3])
        found[name] = {"logits": logits, "foreseen": foreseen, "state": adapter.state_dict()}
    return found


class Scaled(nn.Module):
    """Takes two inputs by name."""

    def __init__(self) -> None:
        super().__init__()
        self.net = net("bn")

    def forward(self, images: Tensor, scale: Tensor) -> Tensor:
        logits: Tensor = self.net(images * scale.view(-1, 1, 1, 1))
        return logits


def named_inputs(first: int, last: int) -> dict[str, Tensor]:
    """Samples from the first up to the last, in two tensors."""
    return {"images": samples()[first:last], "scale": torch.linspace(0.5, 1, 96)[first:last]}


def structured(group: dist.ProcessGroup) -> list[Tensor]:
    """What this rank gets of a stream of named inputs."""
    rank = dist.get_rank(group)
    adapter = trimtab.adapt(Scaled(), "tent", process_group=group)
    cuts = [(0, 9), (9, 20)], [(20, 36), (36, 40)]
    return [adapter(named_inputs(*cut[rank])) for cut in cuts]
