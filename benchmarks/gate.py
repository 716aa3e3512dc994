"""What a gate of later batch norms can gain and lose, batch by batch, and what tells which.

``python benchmarks/gate.py --weights FOLDER --out benchmarks/results/gate.json`` shows networks
(three shipped ones, and those of ``unseen.py`` that FOLDER has) batches of 64 of the validation
corruptions, clean images and six veils, made of images that no network was trained on: of all
classes, of a few and of one, one domain a batch or all of them mixed. Each batch is predicted with
an open and a closed gate, nothing learns, and the signs of both predictions are kept. What the file
holds already is not done again; a network takes some five minutes of one core.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

import unseen
from guard_runs import VEILS
from lock_in import held_out
from trimtab import models
from trimtab.components.adaptive_norm import rule, signs
from trimtab.components.adaptive_norm.early import EARLY_SHARE
from trimtab.core.backbone import Backbone
from trimtab.core.files import write_whole
from trimtab.core.norm import NormPolicy
from trimtab.core.prominence import prominence
from trimtab.streams.corruptions import VALIDATION, Corruptor
from trimtab.streams.data import Indices, LabelledImages

SHIPPED = ("fashion_resnet20_bn", "cifar10_resnet20_bn", "validation_plain_bn")
UNSEEN = ("pre-activations", "pooled stem", "inverted bottlenecks", "dense blocks")
DOMAINS = (*VALIDATION, "clean", *(f"veil {number}" for number in range(1, len(VEILS) + 1)))
CLASSES = (10, 5, 3, 1)
BATCH, REPEATS, NUM_CLASSES = 64, 3, 10
MIXED = "mixed"

KEY = ("network", "domain", "classes", "repeat")


def drawn(data: LabelledImages, classes: int, random: np.random.Generator) -> Indices:
    """Images of a batch: of so many classes, which are as likely as each other."""
    known = random.choice(NUM_CLASSES, classes, replace=False)
    labels = random.choice(known, BATCH)
    return np.array([random.choice(np.flatnonzero(data.labels == label)) for label in labels])


def corrupted(pixels: Tensor, domain: str, seed: int) -> Tensor:
    """Images in [0, 1], (batch, 3, 32, 32)."""
    if domain in VALIDATION:
        pixels = Corruptor()(pixels, domain, 5, seed=seed, indices=np.arange(len(pixels)))
    inputs = pixels.permute(0, 3, 1, 2).float() / 255
    if domain.startswith("veil"):
        contrast, light = VEILS[int(domain.split()[1]) - 1]
        inputs = contrast * inputs + light
    return inputs


def batch_of(data: LabelledImages, domain: str, classes: int, repeat: int) -> tuple[Tensor, Tensor]:
    """Inputs and labels."""
    random = np.random.default_rng([repeat, classes, (*DOMAINS, MIXED).index(domain)])
    chosen = drawn(data, classes, random)
    pixels, labels = torch.from_numpy(data.pixels(chosen)), torch.as_tensor(data.labels[chosen])
    if domain != MIXED:
        return corrupted(pixels, domain, repeat), labels
    places = torch.from_numpy(random.integers(len(DOMAINS), size=BATCH))
    inputs = torch.empty(BATCH, 3, *pixels.shape[1:3])
    for number in places.unique().tolist():
        rows = places == number
        inputs[rows] = corrupted(pixels[rows], DOMAINS[number], repeat)
    return inputs, labels


def judged(backbone: Backbone, inputs: Tensor, labels: Tensor) -> dict[str, float]:
    """Errors in % with an open and a closed gate, and the signs of both predictions."""
    size = BATCH**2 / (BATCH**2 + rule.AdaptiveNorm().stored_samples ** 2)
    with torch.no_grad():
        opened = backbone(inputs, policy=NormPolicy(size)).logits
        shut = NormPolicy(size, early_share=EARLY_SHARE, late_share=0.0)
        closed = backbone(inputs, policy=shut).logits
        few = backbone(inputs[: rule.WITNESS_SAMPLES], policy=shut).logits
    seen = opened[: len(few)]
    found = {
        "open": 100 * float((opened.argmax(1) != labels).float().mean()),
        "closed": 100 * float((closed.argmax(1) != labels).float().mean()),
        "prominence": prominence(opened),
        "prominence, closed": prominence(closed),
        "coverage": signs.coverage(few.argmax(1), NUM_CLASSES),
        "coverage, all": signs.coverage(closed.argmax(1), NUM_CLASSES),
        "coverage, open": signs.coverage(opened.argmax(1), NUM_CLASSES),
        "agreement": signs.kappa(seen.argmax(1), few.argmax(1)),
        "unsure": signs.entropy_ratio(seen, few),
        "agreement, all": signs.kappa(opened.argmax(1), closed.argmax(1)),
        "unsure, all": signs.entropy_ratio(opened, closed),
    }
    return {name: round(number, 4) for name, number in found.items()}


def worth(row: dict[str, Any], samples: str = "") -> float:
    """What a witness says of a batch: ``", all"`` one of a closed gate, else of an open one."""
    names = (f"{name}{samples}" for name in ("coverage", "agreement", "unsure"))
    values = (torch.tensor(row[name]) for name in names)
    return float(signs.worth(torch.tensor(row["prominence"]), *values))


RULES = {
    "always open": lambda row: True,
    "always closed": lambda row: False,
    "prominence": lambda row: row["prominence"] >= rule.SCATTERED,
    "a witness of an open gate": lambda row: worth(row) >= rule.CLOSES,
    "a witness of a closed gate": lambda row: worth(row, ", all") >= rule.OPENS,
    "the gate, open before": lambda row: (
        (row["prominence"] >= rule.SCATTERED and row["coverage, open"] >= rule.UNEVEN)
        or worth(row) >= rule.CLOSES
    ),
}
"""Whether the gate is open for a batch."""


def lost(rows: list[dict[str, Any]], name: str) -> float:
    """Points lost by a rule, on average, to one that always knows better."""
    losses = []
    for row in rows:
        chosen = row["open"] if RULES[name](row) else row["closed"]
        losses.append(chosen - min(row["open"], row["closed"]))
    return float(np.mean(losses))


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Markdown: points lost on average, and in brackets on batches of few classes."""
    networks = list(dict.fromkeys(row["network"] for row in rows))
    yield "| points lost to the better of both | " + " | ".join(networks) + " |"
    yield "|---|" + "---:|" * len(networks)
    for name in RULES:
        cells = []
        for network in networks:
            own = [row for row in rows if row["network"] == network]
            few = [row for row in own if row["classes"] < NUM_CLASSES]
            cells.append(f"{lost(own, name):.1f} ({lost(few, name):.1f})")
        yield f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, help="folder of unseen.py's weights")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    rows = json.loads(args.out.read_text()) if args.out.exists() else []
    done = {tuple(row[key] for key in KEY) for row in rows}
    there = [name for name in UNSEEN if args.weights and (args.weights / f"{name}.pt").exists()]
    for network in (*SHIPPED, *there):
        if network in UNSEEN:
            backbone = Backbone(unseen.trained(network, args.weights))
        else:
            backbone = models.load(network)
        data = held_out(network)
        for domain in (*DOMAINS, MIXED):
            for classes in CLASSES:
                for repeat in range(REPEATS * (len(DOMAINS) if domain == MIXED else 1)):
                    case = (network, domain, classes, repeat)
                    if case in done:
                        continue
                    found = judged(backbone, *batch_of(data, domain, classes, repeat))
                    rows.append(dict(zip(KEY, case, strict=True)) | found)
        lines = ",\n".join(json.dumps(row) for row in rows)
        write_whole(args.out, f"[\n{lines}\n]\n".encode())
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
