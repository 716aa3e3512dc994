"""One stream over several processes, against one process with as many threads, in one run.

``torchrun --nproc-per-node 2 benchmarks/distributed.py`` times a step of the joined batch by all
ranks, one thread each, and by rank 0 alone with as many threads as there are ranks, while others
wait. Both take turns along the same stream, so that whatever else the machine does meets both; each
number is the median over rounds. ``--equal`` compares every method's results instead, on batch,
group and layer norms, in float64 and float32, with uneven and empty shards.
"""

import argparse
import json
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor, nn

import trimtab
from trimtab import models
from trimtab.core.advice import TrimtabWarning

CASES = {
    "resnet20": ("cifar10_resnet20_bn", None, 200, 32),
    "resnet20_gn": ("cifar10_resnet20_gn", None, 200, 32),
    "resnet50": ("resnet50", "random", 16, 224),
    "vit_b_16": ("vit_b_16", "random", 8, 224),
}
"""Network, weights, samples of the joined batch, side of an image in pixels."""


def main() -> None:
    """Print a row for each case on rank 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=["resnet20", "resnet20_gn"])
    parser.add_argument("--methods", nargs="+", default=["tent", "roid"])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--equal", action="store_true", help="compare results, not times")
    parser.add_argument("--json", type=Path, help="write the numbers to this file, too")
    args = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", TrimtabWarning)  # small batches are meant
    dist.init_process_group("gloo")
    rows = list(differences()) if args.equal else list(times(args))
    if args.json and dist.get_rank() == 0:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")
    dist.destroy_process_group()


# -------------------------------------------------------------------- how long a step takes


def times(args: argparse.Namespace) -> Iterator[dict[str, object]]:
    """Seconds per step, of the clock and of all processors, for each case and method."""
    group, size = dist.group.WORLD, dist.get_world_size()
    for name in args.cases:
        network, weights, samples, side = CASES[name]
        model = network_of(network, weights)
        batch = torch.rand(samples, 3, side, side, generator=torch.Generator().manual_seed(0))
        own = batch.tensor_split(size)[dist.get_rank()]
        for method in args.methods:
            shared = trimtab.adapt(model, method, process_group=group)
            alone = trimtab.adapt(model, method)
            found = taken_in_turns(
                lambda step=shared, part=own: step(part),
                lambda step=alone, whole=batch: step(whole),
                args.rounds,
            )
            row = {"case": name, "method": method, "samples": samples, "ranks": size} | found
            say(" ".join(f"{key} {shown(value)}" for key, value in row.items()))
            yield row


def taken_in_turns(
    together: Callable[[], object], alone: Callable[[], object], rounds: int
) -> dict[str, float]:
    """Medians over rounds; the first round warms up and does not count."""
    wall: list[tuple[float, float]] = []
    work: list[tuple[float, float]] = []
    for number in range(rounds + 1):
        shared_wall, shared_work = clocked(together, 1, everyone=True)
        alone_wall, alone_work = clocked(alone, dist.get_world_size(), everyone=False)
        if number:
            wall.append((shared_wall, alone_wall))
            work.append((shared_work, alone_work))
    return {
        "ranks_wall_s": statistics.median(a for a, _ in wall),
        "threads_wall_s": statistics.median(b for _, b in wall),
        "speed_of_ranks": statistics.median(b / a for a, b in wall),
        "ranks_processor_s": statistics.median(a for a, _ in work),
        "threads_processor_s": statistics.median(b for _, b in work),
    }


def clocked(step: Callable[[], object], threads: int, *, everyone: bool) -> tuple[float, float]:
    """Wall time until all ranks are done, and processor time of all of them, in seconds."""
    dist.barrier()
    wall, work = time.perf_counter(), time.process_time()
    if everyone or dist.get_rank() == 0:
        torch.set_num_threads(threads)
        step()
        torch.set_num_threads(1)
    dist.barrier()
    spent = torch.tensor([time.process_time() - work], dtype=torch.float64)
    wall = time.perf_counter() - wall
    dist.all_reduce(spent)
    return wall, float(spent)


# -------------------------------------------------------------------- whether results are equal

SHARDS = {2: ((11, 5), (0, 16), (16, 2), (1, 0)), 3: ((6, 5, 5), (0, 16, 0), (13, 2, 1), (0, 2, 0))}
"""Samples of each rank, call by call."""


def differences() -> Iterator[dict[str, object]]:
    """The largest difference of logits, relative to the largest logit, for each stream.

    ``rounding`` is what one process loses in float32: its distance from itself in float64.
    """
    for method in trimtab.METHODS:
        for network in ("fashion_resnet20_bn", "fashion_resnet20_gn", "fashion_vit"):
            single, double = (
                outputs(method, network, dtype) for dtype in (torch.float32, torch.float64)
            )
            row: dict[str, object] = {
                "method": method,
                "network": network,
                "float64": distance(double[0], double[1]),
                "float32": distance(single[0], single[1]),
                "rounding": distance(single[1], double[1]),
            }
            say(" ".join(f"{key} {shown(value)}" for key, value in row.items()))
            yield row


def outputs(method: str, network: str, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Logits of this rank's samples along a stream: by all ranks, and by one process alone."""
    rank, cuts = dist.get_rank(), SHARDS[dist.get_world_size()]
    model, random = network_of(network, None).to(dtype), torch.Generator().manual_seed(0)
    options: dict[str, object] = {"views": 3} if method in ("memo", "cotta") else {}
    if method == "eata":
        options["source_data"] = [torch.rand(16, 3, 32, 32, generator=random).to(dtype)]
    shared = trimtab.adapt(model, method, process_group=dist.group.WORLD, **options)
    alone = trimtab.adapt(model, method, **options)
    together, expected = [], []
    for cut in cuts:
        batch = torch.rand(sum(cut), 3, 32, 32, generator=random).to(dtype)
        expected.append(alone(batch).split(cut)[rank])
        together.append(shared(batch.split(cut)[rank]))
    return torch.cat(together), torch.cat(expected)


def distance(logits: Tensor, expected: Tensor) -> float:
    """The largest difference on any rank, relative to the largest value."""
    both = torch.stack([(logits - expected).abs().max(), expected.abs().max()]).double()
    dist.all_reduce(both, dist.ReduceOp.MAX)
    return float(both[0] / both[1])


def shown(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def say(line: str) -> None:
    """Print on rank 0."""
    if dist.get_rank() == 0:
        print(line, flush=True)


def network_of(name: str, weights: str | None) -> nn.Module:
    """A network; a head of zeros gets values, since equal logits leave nothing out."""
    torch.manual_seed(0)
    made = models.build(name, weights=weights)
    head = [layer for layer in made.modules() if isinstance(layer, nn.Linear)][-1]
    if not bool(head.weight.any()):
        nn.init.normal_(head.weight, std=0.1)
    return made


if __name__ == "__main__":
    main()
