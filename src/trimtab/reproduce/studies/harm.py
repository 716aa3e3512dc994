"""One method on one hostile stream, with and without a guard, beside the source model."""

from functools import cache
from typing import Any

import torch
from torch import Tensor

import trimtab
from trimtab import models
from trimtab.bench.data import open_data, open_source_data
from trimtab.core.adapter import Adapter
from trimtab.core.backbone import Backbone
from trimtab.reproduce.studies.attacks import strangers
from trimtab.streams.corruptions import BENCHMARK, VALIDATION
from trimtab.streams.data import LabelledImages
from trimtab.streams.hostile import HARD, Source, batches

SOURCE_IMAGES = 256
"""Images for methods that ask for source data."""
VIEWS = {"cotta": {"views": 8}, "memo": {"views": 8}}
"""Options that make the dearest methods affordable."""


def measure(
    *,
    data: str,
    model: str,
    weights: str | None,
    method: str,
    stream: str,
    batch_size: int,
    seed: int,
    corruptions: str,
    samples: int = HARD,
) -> dict[str, Any]:
    """Counts for each batch: scored samples, and mistakes of the source, without and with a guard;
    whether the guard let the source predict, and its alarms. Beside them the passes of both since
    the hard stretch began, when a guard's first looks are over, and samples of the clean end.

    Args:
        corruptions: ``"benchmark"``, or ``"validation"`` to choose constants by.
        samples: Of the hard stretch.
    """
    backbone = _backbone(model)
    if weights != models.fingerprint(model):
        raise ValueError(f"{model} no longer has the weights {weights}")
    names = {"benchmark": BENCHMARK, "validation": VALIDATION}[corruptions]
    source = Source(_images(data), seed, names, samples)
    adapters = {
        name: trimtab.adapt(backbone, method, seed=seed, guard=guarded, **options(method, data))
        for name, guarded in (("plain", False), ("guarded", True))
    }
    found: dict[str, list[int]] = {
        name: [] for name in ("scored", "source", *adapters, "source_predicts", "alarms")
    }
    joined, before = strangers(stream, backbone, source), dict.fromkeys(adapters, 0)
    for inputs, labels in batches(stream, source, batch_size, joined):
        _take(backbone, adapters, inputs, torch.from_numpy(labels), found)
        if adapters["plain"].counters.samples <= source.lead:
            before = {name: _passes(adapter) for name, adapter in adapters.items()}
    since = {f"{n}_passes": _passes(adapter) - before[n] for n, adapter in adapters.items()}
    return found | since | {"clean_samples": source.lead}


def _take(
    backbone: Backbone,
    adapters: dict[str, Adapter],
    inputs: Tensor,
    labels: Tensor,
    found: dict[str, list[int]],
) -> None:
    def mistakes(logits: Tensor) -> int:
        return int(((logits.argmax(1) != labels) & (labels >= 0)).sum())

    with torch.no_grad():
        found["source"].append(mistakes(backbone(inputs).logits))
    found["scored"].append(int((labels >= 0).sum()))
    for name, adapter in adapters.items():
        found[name].append(mistakes(adapter(inputs)))
    health = adapters["guarded"].health
    found["source_predicts"].append(int(health.predicting == "source"))
    found["alarms"].append(health.alarms)


def options(method: str, data: str) -> dict[str, Any]:
    """Of a method: source data where it needs some, few views where it takes many."""
    if method == "eata":
        return {"source_data": _source_data(data)}
    return dict(VIEWS.get(method, {}))


def _passes(adapter: Adapter) -> int:
    return adapter.counters.forward_samples + 2 * adapter.counters.backward_samples


def forwards(*, method: str, samples: int = HARD, **_: Any) -> int:
    """Plain passes of a sample that take about as long."""
    return 2 * samples * (60 if method in VIEWS else 10)


@cache
def _backbone(model: str) -> Backbone:
    return models.load(model)


@cache
def _images(data: str) -> LabelledImages:
    images = open_data(data)
    if not isinstance(images, LabelledImages):
        raise ValueError(f"hostile streams need clean images to corrupt, and {data} has none")
    return images


@cache
def _source_data(data: str) -> list[tuple[Tensor, Tensor]]:
    images = open_source_data(data)
    source = Source(images, 0)
    inputs, labels = source.show(source.draw(SOURCE_IMAGES, "source data"))
    return list(zip(inputs.split(64), torch.from_numpy(labels).split(64), strict=True))
