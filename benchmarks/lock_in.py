"""Lock-in: does the preset come back from runs of one class that begin, end or never do?

``python benchmarks/lock_in.py --out benchmarks/results/lock_in.json`` follows streams of the four
validation corruptions, made of images that no network was trained on, in batches of 64. Each has
two halves of 640 samples; errors are those of the 300 samples after the change and of the rest of
its half, beside those of the source model. What the file holds already is not run again.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

import trimtab
from trimtab import models
from trimtab.core.files import write_whole
from trimtab.streams import embedded
from trimtab.streams.cifar10 import cifar10
from trimtab.streams.corruptions import VALIDATION, Corruptor
from trimtab.streams.data import Indices, LabelledImages

NETWORKS = (
    "fashion_resnet20_bn",
    "cifar10_resnet20_bn",
    "validation_plain_bn",
    "fashion_resnet20_gn",
    "fashion_vit",
    "cifar10_resnet20_gn",
    "cifar10_vit",
)
HALF, BATCH, RUN, RECOVERED, DOMAIN, FEW = 640, 64, 64, 300, 160, 3
HELD_OUT = 2000
"""Last training images of CIFAR-10, which every recipe leaves out."""
STREAMS = {
    "one class": ("one", "one", False),
    "one class, domains mixed": ("one", "one", True),
    "one class begins": ("any", "one", False),
    "one class ends": ("one", "any", False),
    "runs begin": ("any", "runs", False),
    "runs begin, domains mixed": ("any", "runs", True),
    "runs end": ("runs", "any", False),
    "three classes": ("few", "few", False),
    "three classes begin": ("any", "few", False),
}
"""Classes of both halves, and whether domains are mixed; otherwise each has 160 samples in turn,
and three classes are others in each domain."""


def held_out(network: str) -> LabelledImages:
    """Images that the network was not trained on, and that no table shows."""
    if network.startswith("fashion"):
        return embedded.load("source")
    pixels, labels = cifar10("train")
    return LabelledImages(pixels[-HELD_OUT:], labels[-HELD_OUT:].astype(np.int64))


def chosen(kind: str, labels: Indices, random: np.random.Generator) -> Indices:
    """Numbers of the images of a half."""

    def drawn(known: Indices, count: int) -> Indices:
        return random.choice(known, count, replace=count > len(known))

    if kind == "any":
        return drawn(np.arange(len(labels)), HALF)
    if kind == "one":
        return drawn(np.flatnonzero(labels == random.integers(10)), HALF)
    if kind == "few":
        sets = [random.choice(10, FEW, replace=False) for _ in range(HALF // DOMAIN)]
        return np.concatenate([drawn(np.flatnonzero(np.isin(labels, s)), DOMAIN) for s in sets])
    order = random.integers(10, size=HALF // RUN)
    return np.concatenate([drawn(np.flatnonzero(labels == label), RUN) for label in order])


def follow(network: str, stream: str, seed: int) -> dict[str, Any]:
    """Errors in %, of the preset and of the source model."""
    images, random = held_out(network), np.random.default_rng(seed)
    before, after, mixed = STREAMS[stream]
    image = np.concatenate([chosen(kind, images.labels, random) for kind in (before, after)])
    turns = np.arange(2 * HALF) // DOMAIN % len(VALIDATION)
    domain = random.integers(len(VALIDATION), size=2 * HALF) if mixed else turns
    pixels = torch.from_numpy(images.pixels(image))
    for number, name in enumerate(VALIDATION):
        at = np.flatnonzero(domain == number)
        pixels[torch.from_numpy(at)] = Corruptor()(pixels[at], name, 5, seed=seed, indices=at)
    backbone = models.load(network)
    adapter, wrong = trimtab.adapt(backbone, "trimtab", guard=False), []
    inputs = pixels.permute(0, 3, 1, 2).float() / 255
    for batch, truth in zip(
        inputs.split(BATCH), torch.from_numpy(images.labels[image]).split(BATCH), strict=True
    ):
        with torch.no_grad():
            source = backbone(batch).logits
        wrong.append(torch.stack([said.argmax(1) != truth for said in (adapter(batch), source)]))
    errors = 100 * torch.cat(wrong, 1).float()
    parts = {"before": (0, HALF), "after": (HALF, HALF + RECOVERED)}
    parts["recovered"] = (HALF + RECOVERED, 2 * HALF)
    found: dict[str, Any] = {"network": network, "stream": stream, "seed": seed}
    for part, (first, last) in parts.items():
        own, source = errors[:, first:last].mean(1).tolist()
        found |= {part: round(own, 1), f"{part}, source": round(source, 1)}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--network", nargs="+", default=NETWORKS)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    rows = json.loads(args.out.read_text()) if args.out.exists() else []
    for network in args.network:
        for stream in STREAMS:
            wanted = {"network": network, "stream": stream, "seed": args.seed}
            if any(wanted.items() <= row.items() for row in rows):
                continue
            rows.append(follow(network, stream, args.seed))
            print(rows[-1], flush=True)
            lines = ",\n".join(json.dumps(row) for row in rows)
            write_whole(args.out, f"[\n{lines}\n]\n".encode())


if __name__ == "__main__":
    main()
