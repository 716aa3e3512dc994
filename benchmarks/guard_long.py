"""Guarded methods on streams of 15,000 samples and more, where harm that grows slowly shows.

``python benchmarks/guard_long.py --out benchmarks/results/guard_long.json`` follows the fifteen
corruptions with 1,000 images each in batches of 64: errors of the source model, and of methods
without and with the guard. ``--validation`` follows the four validation corruptions instead, made
of images that no network was trained on, for choosing constants. What the file holds already is
not run again. A stream takes two to four minutes of one core.
"""

import argparse
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path

import torch

import trimtab
from guard_runs import Batch, follow, table
from lock_in import held_out
from trimtab import streams
from trimtab.streams.corruptions import VALIDATION
from trimtab.streams.domains import Corrupted

NETWORKS = (
    "cifar10_resnet20_gn",
    "cifar10_vit",
    "fashion_resnet20_gn",
    "fashion_vit",
    "cifar10_resnet20_bn",
    "fashion_resnet20_bn",
)
METHODS = ("tent", "roid")
SCENARIOS = ("continual", "mixed", "correlated", "mixed_correlated(delta=0.1)")
BATCH, IMAGES, VALIDATION_IMAGES = 64, 1000, 2000


def batches(network: str, scenario: str, seed: int, validation: bool) -> Iterator[Batch]:
    """Inputs and labels of a stream."""
    data = "cifar10" if network.startswith("cifar10") else "fashion_mnist"
    images = Corrupted(held_out(network), names=VALIDATION) if validation else streams.load(data)
    stream = streams.scenario(scenario).stream(
        images,
        seed=seed,
        batch_size=BATCH,
        severity=5,
        images_per_domain=VALIDATION_IMAGES if validation else IMAGES,
    )
    for batch in stream:
        yield batch.inputs, torch.as_tensor(batch.labels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--scenarios", nargs="+", default=SCENARIOS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--validation", action="store_true", help="held-out images")
    args = parser.parse_args()
    torch.set_num_threads(1)
    trimtab.keep_freed_memory()
    cases = product(args.networks, args.scenarios, args.methods, args.seeds)
    stream = partial(batches, validation=args.validation)
    print("\n".join(table(follow(args.out, cases, stream))))


if __name__ == "__main__":
    main()
