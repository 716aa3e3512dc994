"""What a fleet costs: time against one stream and against one by one, and memory.

    python benchmarks/fleet.py speed memory paging growth

Times are processor time of one thread, interleaved in one process, medians over rounds. Results
are kept in benchmarks/results/fleet.json; what is there already is not measured again. Freed memory
is kept in the process but where ``memory`` is asked for, too, which it would add to.
"""

import json
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

import trimtab
from trimtab import models, streams
from trimtab.core.pace import passes
from trimtab.models.missing_operators import import_torchvision

RESULTS = Path(__file__).parent / "results" / "fleet.json"
ROUNDS, WARM_UP = 3, 1

SPEED = [
    (network, count, samples, method)
    for method in ("tent", "roid", "trimtab")
    for network, count, samples in (
        ("cifar10_resnet20_gn", 64, 1),
        ("cifar10_vit", 64, 1),
        ("cifar10_resnet20_bn", 16, 4),
    )
]
GROWTH = [("cifar10_resnet20_gn", count, 1, "tent") for count in (2, 8, 32, 64)]


def names_of(count: int) -> list[str]:
    return [f"stream-{number:05d}" for number in range(count)]


@cache
def images(samples: int, rounds: int) -> list[Tensor]:
    """Corrupted CIFAR-10 test images, another corruption for each round."""
    stream = streams.scenario("continual").stream(
        streams.load("cifar10"), seed=0, batch_size=samples, images_per_domain=samples
    )
    return [batch.inputs for batch, _ in zip(stream, range(rounds), strict=False)]


def seconds(call: Callable[[], object]) -> float:
    before = time.process_time()
    call()
    return time.process_time() - before


def speed(network: str, count: int, samples: int, method: str) -> dict[str, Any]:
    """One stream on all samples, a fleet of streams, and the same streams one by one."""
    loaded = models.load(network)
    backbone = loaded if isinstance(loaded, trimtab.Backbone) else trimtab.Backbone(loaded)
    names = names_of(count)
    one = trimtab.adapt(backbone, method, guard=False)
    fleet = trimtab.fleet(backbone, method, guard=False)
    alone = {
        name: trimtab.adapt(backbone, method, guard=False, seed=fleet[name].seed) for name in names
    }
    times: dict[str, list[float]] = {"one": [], "fleet": [], "alone": []}
    for batch in images(count * samples, ROUNDS + WARM_UP):
        parts = dict(zip(names, batch.split(samples), strict=True))
        times["one"].append(seconds(lambda batch=batch: one(batch)))
        times["fleet"].append(seconds(lambda parts=parts: fleet.step(parts)))
        times["alone"].append(seconds(lambda parts=parts: [alone[n](x) for n, x in parts.items()]))
    found = {name: statistics.median(values[WARM_UP:]) for name, values in times.items()}
    work = [(c.forward_samples, c.backward_samples) for c in (fleet[n].counters for n in names)]
    more = sum(map(passes, (fleet[n].counters for n in names))) / passes(one.counters)
    return {
        **{f"{name}_ms": round(1000 * value, 1) for name, value in found.items()},
        "fleet_over_one": round(found["fleet"] / found["one"], 2),
        "per_pass": round(found["fleet"] / found["one"] / more, 2),
        "alone_over_fleet": round(found["alone"] / found["fleet"], 2),
        "one_passes": [one.counters.forward_samples, one.counters.backward_samples],
        "fleet_passes": [sum(forward for forward, _ in work), sum(back for _, back in work)],
    }


def tensors_of(value: object, seen: dict[int, int]) -> None:
    """Bytes of all storages that a state holds, each counted once."""
    if isinstance(value, Tensor):
        storage = value.untyped_storage()
        seen[storage.data_ptr()] = storage.nbytes()
    elif isinstance(value, dict):
        for part in value.values():
            tensors_of(part, seen)
    elif hasattr(value, "rows") and isinstance(value.rows, dict):
        tensors_of(value.rows, seen)


def memory(count: int) -> dict[str, Any]:
    """Streams of ROID on a ResNet-50 of random weights, after a step of each."""
    torch.manual_seed(0)
    backbone = trimtab.Backbone(import_torchvision().models.resnet50(num_classes=10))
    fleet = trimtab.fleet(backbone, "roid", samples_at_once=32)
    batch, warm = torch.rand(2, 3, 32, 32), names_of(16)
    for _ in range(2):  # what passes of 32 samples take is there before streams are counted
        fleet.step(dict.fromkeys(warm, batch))
    for name in warm:
        fleet.close(name)
    before = resident_bytes()
    for first in range(0, count, 32):
        fleet.step(dict.fromkeys(names_of(count)[first : first + 32], batch))
    own: dict[int, int] = {}
    for name in fleet:
        state = fleet[name].state
        for part in (state.params, state.statistics, state.memory, state.moments):
            tensors_of(part, own)
    shared: dict[int, int] = {}
    tensors_of(dict(backbone.model.state_dict()), shared)
    mine = sum(size for place, size in own.items() if place not in shared)
    return {
        "streams": count,
        "tensor_megabytes": round(mine / 2**20, 1),
        "resident_megabytes": round((resident_bytes() - before) / 2**20, 1),
        "backbone_megabytes": round(sum(shared.values()) / 2**20, 1),
    }


def resident_bytes() -> int:
    """Memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def paging(count: int, resident: int) -> dict[str, Any]:
    """Whether streams that come and go from a store come to the same bits as in memory."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(12, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 5))
    backbone, names = trimtab.Backbone(model), names_of(count)
    with tempfile.TemporaryDirectory() as folder:
        paged = trimtab.fleet(backbone, "tent", resident=resident, store=folder)
        whole = trimtab.fleet(backbone, "tent")
        equal = True
        for _ in range(2):
            step = dict(zip(names, torch.randn(count, 1, 12), strict=True))
            one, other = paged.step(step), whole.step(step)
            equal = equal and all(torch.equal(one[name], other[name]) for name in names)
        in_memory = len(paged.in_memory)
        paged.flush()
        listing = seconds(lambda: trimtab.fleet(backbone, "tent", store=folder))
    return {
        "streams": count,
        "resident": in_memory,
        "bit_equal": equal,
        "listing_ms": round(1000 * listing, 1),
    }


CASES: dict[str, list[tuple[str, Callable[[], dict[str, Any]]]]] = {
    "speed": [
        (
            f"{net} {count}x{samples} {method}",
            lambda case=(net, count, samples, method): speed(*case),
        )
        for net, count, samples, method in SPEED
    ],
    "growth": [(f"{case[1]}", lambda case=case: speed(*case)) for case in GROWTH],
    "memory": [(f"{count}", lambda count=count: memory(count)) for count in (64, 1000)],
    "paging": [("10000", lambda: paging(10_000, 500))],
}


def main(wanted: list[str]) -> None:
    torch.set_num_threads(1)
    if wanted and "memory" not in wanted:
        trimtab.keep_freed_memory()
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for part in wanted or list(CASES):
        for name, measure in CASES[part]:
            if name in found.get(part, {}):
                continue
            result = measure()
            found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
            found.setdefault(part, {})[name] = result
            RESULTS.parent.mkdir(exist_ok=True)
            RESULTS.write_text(json.dumps(found, indent=1) + "\n")
            print(part, name, result, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
