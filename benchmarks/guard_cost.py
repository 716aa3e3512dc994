"""What the guard costs on streams where it has nothing to do, counted and in processor time.

``python benchmarks/guard_cost.py`` steps a method with and without its guard in turns, over the
same corrupted embedded images, and prints the ratio of passes and of the median processor time.
The first looks of a stream, which are extra, come before.
"""

import argparse
import statistics
import time

import torch

import trimtab
from trimtab.core.pace import passes


def measure(model: str, method: str, args: argparse.Namespace) -> tuple[float, float, int]:
    """Passes and processor time with the guard, in those without; and alarms."""
    backbone, stream = trimtab.load_demo(model, images_per_domain=args.images, batch_size=64)
    pair = [trimtab.adapt(backbone, method, guard=guard) for guard in (False, True)]
    seconds: tuple[list[float], list[float]] = ([], [])
    before = [0, 0]
    for number, batch in enumerate(stream):
        if number == args.warm_up:
            before = [passes(adapter.counters) for adapter in pair]
        for adapter, taken in zip(pair, seconds, strict=True):
            clock = time.process_time()
            adapter(batch.inputs)
            taken.append(time.process_time() - clock)
    spent = [passes(a.counters) - b for a, b in zip(pair, before, strict=True)]
    plain, guarded = (statistics.fmean(taken[args.warm_up :]) for taken in seconds)
    return spent[1] / spent[0], guarded / plain, pair[1].health.alarms


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=["fashion_resnet20_bn"])
    parser.add_argument("--methods", nargs="+", default=["tent", "roid", "trimtab"])
    parser.add_argument("--images", type=int, default=320, help="of each corruption")
    parser.add_argument("--warm-up", type=int, default=8, help="batches")
    args = parser.parse_args()
    torch.set_num_threads(1)
    trimtab.keep_freed_memory()
    for model in args.models:
        for method in args.methods:
            counted, timed, alarms = measure(model, method, args)
            print(f"{model} {method}: passes x {counted:.3f}, time x {timed:.3f}, {alarms} alarms")


if __name__ == "__main__":
    main()
