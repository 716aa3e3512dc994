"""What a gate of later batch norms can gain and lose, batch by batch, and what tells which.

``python benchmarks/gate.py --weights FOLDER --out benchmarks/results/gate.json`` shows networks
(three shipped ones, and those of ``unseen.py`` that FOLDER has) batches of 64 of the validation
corruptions, clean images and six veils, made of images that no network was trained on: of all
classes, of a few and of one, one domain a batch or all of them mixed. Each batch is predicted with
an open and a closed gate, nothing learns. Kept are errors and signs, means over batches alike, and
what each rule loses. Networks that the file has already are not done again; each takes a minute of
one core.
"""

import argparse
import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

import unseen
from guard_runs import VEILS
from lock_in import held_out
from trimtab import models
from trimtab.components.adaptive_norm import rule
from trimtab.components.adaptive_norm.early import EARLY_SHARE
from trimtab.core.backbone import Backbone
from trimtab.core.batch_signs import coverage, kappa, shape_entropy, worth
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

Row = dict[str, float]


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


def judged(backbone: Backbone, inputs: Tensor, labels: Tensor) -> Row:
    """Errors in % with an open and a closed gate, and the signs of both predictions."""
    size = BATCH**2 / (BATCH**2 + rule.AdaptiveNorm().stored_samples ** 2)
    shut = NormPolicy(size, early_share=EARLY_SHARE, late_share=0.0)
    with torch.no_grad():
        opened = backbone(inputs, policy=NormPolicy(size)).logits
        closed = backbone(inputs, policy=shut).logits
        few = backbone(inputs[: rule.WITNESS_SAMPLES], policy=shut).logits
    stands_out = prominence(opened)
    return {
        "open": 100 * float((opened.argmax(1) != labels).float().mean()),
        "closed": 100 * float((closed.argmax(1) != labels).float().mean()),
        "prominence": stands_out,
        "coverage": coverage(closed.argmax(1), NUM_CLASSES),
        "coverage, open": coverage(opened.argmax(1), NUM_CLASSES),
        "agreement": kappa(opened.argmax(1), closed.argmax(1)),
        "less sure": shape_entropy(opened) - shape_entropy(closed),
        "worth": witnessed(stands_out, opened, closed),
        "worth, 24 samples": witnessed(stands_out, opened[: len(few)], few),
    }


def witnessed(stands_out: float, opened: Tensor, closed: Tensor) -> float:
    """What a witness says of a batch."""
    shown = coverage(closed.argmax(1), NUM_CLASSES)
    agreed = kappa(opened.argmax(1), closed.argmax(1))
    return worth(stands_out, shown, agreed, shape_entropy(opened) - shape_entropy(closed))


RULES: dict[str, Callable[[Row], bool]] = {
    "always open": lambda row: True,
    "always closed": lambda row: False,
    "prominence alone": lambda row: row["prominence"] >= rule.SCATTERED,
    "a witness of 24 samples": lambda row: row["worth, 24 samples"] >= rule.CLOSES,
    "a witness of 64 samples": lambda row: row["worth"] >= rule.CLOSES,
}
"""Whether the gate is open for a batch."""


def lost(rows: list[Row], name: str) -> float:
    """Points lost by a rule, on average, to one that always knows better."""
    losses = []
    for row in rows:
        chosen = row["open"] if RULES[name](row) else row["closed"]
        losses.append(chosen - min(row["open"], row["closed"]))
    return round(float(np.mean(losses)), 2)


def shown(network: str, weights: Path | None) -> dict[str, Any]:
    """Errors and signs by kind of batch; points that each rule loses, in all and of few classes."""
    if network in UNSEEN:
        assert weights is not None
        backbone = Backbone(unseen.trained(network, weights))
    else:
        backbone = models.load(network)
    data = held_out(network)
    kinds: dict[tuple[str, int], list[Row]] = {}
    for domain, classes in product((*DOMAINS, MIXED), CLASSES):
        for repeat in range(REPEATS * (len(DOMAINS) if domain == MIXED else 1)):
            found = judged(backbone, *batch_of(data, domain, classes, repeat))
            kinds.setdefault((domain.split()[0], classes), []).append(found)
    every = [row for rows in kinds.values() for row in rows]
    few = [row for (_, classes), rows in kinds.items() if classes < NUM_CLASSES for row in rows]
    means = [
        {"domain": domain, "classes": classes}
        | {name: round(float(np.mean([row[name] for row in rows])), 3) for name in rows[0]}
        for (domain, classes), rows in kinds.items()
    ]
    losses = {name: [lost(every, name), lost(few, name)] for name in RULES}
    return {"network": network, "lost": losses, "means": means}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, help="folder of unseen.py's weights")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    found = json.loads(args.out.read_text()) if args.out.exists() else []
    there = [name for name in UNSEEN if args.weights and (args.weights / f"{name}.pt").exists()]
    for network in (*SHIPPED, *there):
        if network not in [known["network"] for known in found]:
            found.append(shown(network, args.weights))
            lines = ",\n".join(json.dumps(known) for known in found)
            write_whole(args.out, f"[\n{lines}\n]\n".encode())
            print(network, found[-1]["lost"], flush=True)


if __name__ == "__main__":
    main()
