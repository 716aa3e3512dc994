"""Guarded methods on batch norms where classes come in runs, unevenly, or under veils.

``python benchmarks/guard_runs.py --out benchmarks/results/guard_runs.json`` follows streams of the
four validation corruptions (and of six veils) in batches of 64, made of images that no network was
trained on: errors of the source model, and of methods without and with the guard. What the file
holds already is not run again. About half an hour of one core.
"""

import argparse
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

import trimtab
from lock_in import held_out
from trimtab import models, streams
from trimtab.core.backbone import Backbone
from trimtab.core.files import write_whole
from trimtab.freed_memory import keep_freed_memory
from trimtab.streams.corruptions import VALIDATION
from trimtab.streams.domains import Corrupted

NETWORKS = ("validation_plain_bn", "fashion_resnet20_bn", "cifar10_resnet20_bn")
METHODS, SEEDS, BATCH, IMAGES, CLASSES = ("bn1", "tent", "roid"), (1, 2), 64, 500, 10
SCENARIOS = {
    "continual": "continual",
    "mixed": "mixed",
    "correlated": "correlated",
    **{f"Dirichlet {d:g}": f"mixed_correlated(delta={d})" for d in (1.0, 0.1, 0.01)},
}
UNEVEN = {"uneven 10": 10.0, "uneven 50": 50.0}
"""How many times as rare as the commonest class the rarest is; mixed domains, no order."""
VEILS = ((0.3, 0.65), (0.25, 0.4), (0.2, 0.05), (0.12, 0.85), (0.12, 0.45), (0.1, 0.1))
"""Contrast that is left, and light that is added."""
STREAMS = (*SCENARIOS, *UNEVEN, "veils", "veils, mixed")

KEY = ("network", "stream", "method", "seed")

Batch = tuple[Tensor, Tensor]
Case = tuple[str, str, str, int]
Stream = Callable[[str, str, int], Iterator[Batch]]
"""Makes the batches of a network, stream and seed."""


def batches(network: str, name: str, seed: int) -> Iterator[Batch]:
    """Inputs and labels of a stream."""
    images = Corrupted(held_out(network), names=VALIDATION)
    if name in SCENARIOS:
        stream = streams.scenario(SCENARIOS[name]).stream(
            images, seed=seed, batch_size=BATCH, severity=5, images_per_domain=IMAGES
        )
        return ((batch.inputs, torch.as_tensor(batch.labels)) for batch in stream)
    random = np.random.default_rng(seed)
    if name in UNEVEN:
        return _cut(*_uneven(images, UNEVEN[name], random, seed))
    return _cut(*_veiled(images, random, mixed=name == "veils, mixed"))


def _cut(inputs: Tensor, labels: Tensor) -> Iterator[Batch]:
    return zip(inputs.split(BATCH), labels.split(BATCH), strict=True)


def _uneven(
    images: Corrupted, ratio: float, random: np.random.Generator, seed: int
) -> tuple[Tensor, Tensor]:
    shares = ratio ** (-random.permutation(CLASSES) / (CLASSES - 1))
    count, known = IMAGES * len(VALIDATION), images.clean.labels
    labels = random.choice(CLASSES, count, p=shares / shares.sum())
    chosen = np.array([random.choice(np.flatnonzero(known == label)) for label in labels])
    domains = random.integers(len(VALIDATION), size=count)
    inputs = torch.empty(count, 3, 32, 32)
    for place, domain in enumerate(VALIDATION):
        rows = np.flatnonzero(domains == place)
        inputs[torch.from_numpy(rows)] = _inputs(images.pixels(domain, 5, chosen[rows], seed))
    return inputs, torch.from_numpy(labels)


def _veiled(images: Corrupted, random: np.random.Generator, mixed: bool) -> tuple[Tensor, Tensor]:
    parts, labels = [], []
    for contrast, light in VEILS:
        chosen = random.permutation(len(images.clean.labels))[: IMAGES * 4 // 5]
        parts.append(contrast * _inputs(torch.from_numpy(images.clean.pixels(chosen))) + light)
        labels.append(torch.as_tensor(images.clean.labels[chosen]))
    inputs, truth = torch.cat(parts), torch.cat(labels)
    order = torch.from_numpy(random.permutation(len(truth))) if mixed else slice(None)
    return inputs[order], truth[order]


def _inputs(pixels: Tensor) -> Tensor:
    return pixels.permute(0, 3, 1, 2).float() / 255


def followed(
    backbone: Backbone, stream: Iterable[Batch], method: str, seed: int, **options: Any
) -> dict[str, Any]:
    """Errors in %, the worst 1,000 samples with the guard in points above the source, alarms."""
    adapters = {
        way: trimtab.adapt(backbone, method, seed=seed, guard=way == "with", **options)
        for way in ("without", "with")
    }
    wrong: dict[str, list[Tensor]] = {"source": [], **{way: [] for way in adapters}}
    alarms: list[int] = []
    for inputs, labels in stream:
        with torch.no_grad():
            wrong["source"].append(backbone(inputs).logits.argmax(1) != labels)
        for way, adapter in adapters.items():
            wrong[way].append(adapter(inputs).argmax(1) != labels)
        if adapters["with"].health.alarms > len(alarms):
            alarms.append(adapters["with"].counters.samples)
    joined = {way: torch.cat(parts).double() for way, parts in wrong.items()}
    harm = torch.cat([torch.zeros(1).double(), (joined["with"] - joined["source"]).cumsum(0)])
    numbers = {way: round(100 * float(values.mean()), 2) for way, values in joined.items()}
    worst = round(float((harm[1000:] - harm[:-1000]).max()) / 10, 2)
    return {**numbers, "worst_1000_with": worst, "alarms_after": alarms}


def follow(out: Path, cases: Iterable[Case], stream: Stream) -> list[dict[str, Any]]:
    """Every case that the file does not hold yet, each kept at once; all rows of the file."""
    rows = json.loads(out.read_text()) if out.exists() else []
    done = {tuple(row[key] for key in KEY) for row in rows}
    for case in cases:
        if case not in done:
            network, name, method, seed = case
            found = followed(models.load(network), stream(network, name, seed), method, seed)
            rows.append({**dict(zip(KEY, case, strict=True)), **found})
            lines = ",\n".join(json.dumps(row) for row in rows)
            write_whole(out, f"[\n{lines}\n]\n".encode())
            print(rows[-1], flush=True)
    return rows


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Markdown: over methods and seeds, from the least to the most points above the source."""
    yield "| network | stream | source | without guard | with | worst 1,000 with | alarms |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    for network, name in dict.fromkeys((row["network"], row["stream"]) for row in rows):
        found = [row for row in rows if (row["network"], row["stream"]) == (network, name)]
        points = [[row[way] - row["source"] for row in found] for way in ("without", "with")]
        cells = [
            _span([row["source"] for row in found], ".1f"),
            *(_span(p, "+.1f") for p in points),
        ]
        worst = max(row["worst_1000_with"] for row in found)
        alarmed = sum(bool(row["alarms_after"]) for row in found)
        ends = f"{worst:+.1f} | {alarmed} of {len(found)}"
        yield f"| `{network}` | {name} | {' | '.join(cells)} | {ends} |"


def _span(values: list[float], form: str) -> str:
    ends = [f"{value:{form}}" for value in (min(values), max(values))]
    return " to ".join(dict.fromkeys(ends))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    keep_freed_memory()
    print("\n".join(table(follow(args.out, product(NETWORKS, STREAMS, METHODS, SEEDS), batches))))


if __name__ == "__main__":
    main()
