"""How often the guard falls back on long streams where adapting helps.

``python benchmarks/false_alarms.py --out benchmarks/results/false_alarms.json`` follows the fifteen
corruptions once for each network and method, one after the other and mixed, and keeps what both
models say of every batch and of its views. Whole domains of that record (of mixed ones, batches
whose first sample is of one domain), drawn at random, are then joined to streams of 100,000
samples and more, which take seconds: the guard's own weighing looks at every batch,
several times as often as it would along a stream, so alarms are rather counted too often. What a
replay cannot show is how adapting itself would have gone on. Output rules that a guard has to see
runs for are left out of the record; ``in_runs`` counts the batches in which they would have had
their say.
"""

import argparse
import json
import random
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import torch

import trimtab
from trimtab import models, streams
from trimtab.augment.stretch import stretched as in_full_contrast
from trimtab.core.backbone import Tensors
from trimtab.core.files import write_whole
from trimtab.core.guard import betting, correlation, erased, runs
from trimtab.core.guard.judging import arrived
from trimtab.core.guard.look import Look
from trimtab.core.guard.questions import questions
from trimtab.core.guard.settings import Guard, new_evidence
from trimtab.core.guard.shadow import PATCHES, TELLING
from trimtab.core.guard.watch import Watch
from trimtab.core.method import Method
from trimtab.core.norm import NormPolicy

NETWORKS = (
    "fashion_resnet20_bn",
    "fashion_resnet20_gn",
    "cifar10_resnet20_bn",
    "cifar10_resnet20_gn",
)
METHODS = ("tent", "roid", "trimtab")
STREAMS = ("continual", "mixed")
HALFWAY = NormPolicy(batch_weight=1.0, late_share=0.0)
"""Whose statistics the source is asked with where no class stands out of a batch."""
Domains = list[list[Look]]
"""Looks at a stream, domain after domain."""


def record(network: str, method: str, name: str, images: int) -> tuple[Domains, dict[str, float]]:
    """A look at every batch of a stream, and the errors of both models, in %."""
    backbone, stream = _stream(network, name, images)
    adapter = trimtab.adapt(backbone, without_runs(network, method), guard=False)
    found: dict[int, list[Look]] = {}
    wrong, count = {"source": 0, "adapted": 0}, 0
    for batch in stream:
        view = adapter.predict(batch.inputs.flip(3))
        look = _look(partial(_source, backbone), adapter(batch.inputs), view, batch.inputs)
        if backbone.has_batch_norm and not look.agreed:
            look = replace(look, halfway=_source(backbone, batch.inputs, policy=HALFWAY))
        found.setdefault(int(batch.domain[0]), []).append(look)
        labels = torch.as_tensor(batch.labels)
        wrong["source"] += int((look.source_said != labels).sum())
        wrong["adapted"] += int((look.said != labels).sum())
        count += len(labels)
    return list(found.values()), {name: round(100 * n / count, 2) for name, n in wrong.items()}


def without_runs(network: str, name: str) -> Method:
    """The recipe as a guard lets it answer while no runs are seen."""
    method = trimtab.build(name)
    if models.load(network).has_batch_norm:
        return method
    names = {rule.name for rule in method.rules_for_runs}
    kept = tuple(part for part in method.components if part.name not in names)
    return replace(method, components=kept)


def _stream(network: str, name: str, images: int) -> tuple[Any, Any]:
    data = "fashion_mnist" if network.startswith("fashion") else "cifar10"
    stream = streams.scenario(name).stream(
        streams.load(data), seed=0, batch_size=64, images_per_domain=images
    )
    return models.load(network), stream


@torch.no_grad()
def _source(backbone: Any, inputs: torch.Tensor, **policy: NormPolicy) -> torch.Tensor:
    logits: torch.Tensor = backbone(inputs, **policy).logits
    return logits


def _look(source: Any, adapted: Any, view: Any, inputs: Any) -> Look:
    plain = Look(adapted, source(inputs))
    if plain.disagreement <= TELLING:
        return Look(adapted, plain.source, agreed=True)
    shuffled = PATCHES(inputs, torch.Generator().manual_seed(0))
    return Look(
        adapted,
        plain.source,
        view,
        source(inputs.flip(3)),
        source_shuffled=source(shuffled),
        source_stretched=source(in_full_contrast(inputs)),
    )


def joined(domains: Domains, samples: int, seed: int) -> Iterator[Look]:
    """Looks at a long stream of whole domains, in an order that the seed decides."""
    order, seen = random.Random(seed), 0
    while seen < samples:
        for look in order.choice(domains):
            yield look
            seen += len(look.source)


def replay(
    domains: Domains, samples: int, seed: int, method: Method, shifts: bool, coupled: bool
) -> tuple[int, int, float]:
    """Along a long stream: alarms, batches that are taken for part of a run, and the most evidence
    of harm, in nats.

    Args:
        method: As it answers all along.
        shifts: Whether some rules of it may favour classes on purpose.
        coupled: Whether batch norms let samples of a batch depend on each other.
    """
    follows = method.may_drift
    guard = Guard()
    watch = Watch(guard, attempt=_unused)
    evidence = new_evidence(guard, only_corrects=False, may_drift=follows)
    alarms, in_runs, most = 0, 0, 0.0
    for look in joined(domains, samples, seed):
        if follows:
            evidence = correlation.arrived(evidence, look.adapted) if shifts else evidence
            if shifts == method.shifts_classes:  # no rule is left out
                evidence = arrived(evidence, look.adapted, coupled)
            in_runs += runs.are_seen(evidence)
        purpose = method.shifts_classes
        look = replace(_as_asked(look, evidence), may_drift=follows, shifts_classes=purpose)
        evidence = watch.weighed(evidence, look, cost=0)
        known = betting.evidence(evidence["wealth"])
        most = max(most, known)
        if known >= guard.alarm:
            alarms += 1
            evidence |= {"wealth": torch.zeros_like(evidence["wealth"])}
    return alarms, in_runs, most


def _as_asked(look: Look, evidence: Tensors) -> Look:
    """The look with those views of the source that the guard would have asked for."""
    wanted = questions(look, evidence)
    asked = slice(None) if wanted.asked is None else wanted.asked
    shuffled, stretched = (
        view[asked] if view is not None and is_wanted else None
        for view, is_wanted in (
            (look.source_shuffled, wanted.shuffled),
            (look.source_stretched, wanted.stretched),
        )
    )
    halfway = look.halfway if erased.is_worth_a_pass(evidence, look) else None
    look = replace(look, source_shuffled=shuffled, source_stretched=stretched, halfway=halfway)
    return replace(look, asked=wanted.asked)


def _unused(*_: Any) -> Any:
    raise AssertionError("a replay makes no passes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--streams", nargs="+", default=STREAMS)
    parser.add_argument("--images", type=int, default=192, help="of each corruption")
    parser.add_argument("--samples", type=int, default=100_000, help="of a long stream")
    args = parser.parse_args()
    torch.set_num_threads(1)
    trimtab.keep_freed_memory()
    found = json.loads(args.out.read_text()) if args.out.exists() else []
    done = {(row["network"], row["method"], row["stream"]) for row in found}
    for case in product(args.networks, args.methods, args.streams):
        if case not in done:
            domains, errors = record(*case, args.images)
            method, coupled = without_runs(*case[:2]), models.load(case[0]).has_batch_norm
            shifts = trimtab.build(case[1]).shifts_classes
            alarms, in_runs, most = replay(domains, args.samples, 0, method, shifts, coupled)
            row = dict(zip(("network", "method", "stream"), case, strict=True))
            row |= {**errors, "samples": args.samples, "alarms": alarms, "in_runs": in_runs}
            found.append(row | {"most_evidence": round(most, 2)})
            print(found[-1], flush=True)
            write_whole(args.out, (json.dumps(found, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
