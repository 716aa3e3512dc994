"""Adapt to one domain in several ways, freeze, and look at all domains and the source."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from trimtab import methods, models
from trimtab.bench.data import open_data
from trimtab.components.source_ensembling import SourceEnsembling
from trimtab.core.adapter import Adapter
from trimtab.core.backbone import Backbone
from trimtab.core.method import Method
from trimtab.core.optimizer import OptimizerChoice
from trimtab.reproduce.supervision import Answers, Supervision
from trimtab.streams.batch import Batch
from trimtab.streams.data import Indices, LabelledImages
from trimtab.streams.domains import CLEAN, Corrupted, Domains
from trimtab.streams.order import order
from trimtab.streams.plan import plain_stretch
from trimtab.streams.stream import Stream

ENTROPY, SUPERVISED, DIVERSE = "entropy", "supervised", "diverse"
LOSSES = (ENTROPY, SUPERVISED, DIVERSE)

HELD_OUT = 5
"""One in this many images is kept for the evaluation, as in the paper."""

MANY, DOMAINS = 50_000, 16
"""All images of the largest data, and its domains with the source."""

PULL = 5.0
"""With ensembling, this times the learning rate comes back from the source at each update."""


def measure(
    *,
    data: str,
    model: str,
    weights: str | None,
    domain: str,
    rates: Sequence[float],
    images: int | None,
    severity: int,
    batch_size: int,
    seed: int,
) -> dict[str, Any]:
    """Errors in % by ``loss/ensembled or plain/learning rate``, then by domain.

    All ways see the same batches, and are evaluated on images that none of them saw.
    """
    backbone, domains = _backbone(model), load_domains(data)
    if weights != models.fingerprint(model):
        raise ValueError(f"{model} no longer has the weights {weights}")
    adapted, held_out = split(domains, domain, images, seed)
    answers = Answers()
    streams = {
        f"{loss}/{'ensembled' if ensembled else 'plain'}/{rate:g}": recipe(
            loss, ensembled, rate, answers
        ).start(backbone, seed=seed)
        for loss in LOSSES
        for ensembled in (False, True)
        for rate in rates
    }
    for batch in show(domains, domain, severity, adapted, batch_size, seed):
        answers.labels = batch.labels
        for adapter in streams.values():
            adapter(batch.inputs)
    errors: dict[str, dict[str, float]] = {name: {} for name in streams}
    for other in _evaluated(domains):
        shown = show(domains, other, severity, held_out, batch_size, seed)
        for name, error in _errors(streams, shown).items():
            errors[name][other] = error
    return {"errors": errors, "adapted_to": len(adapted), "held_out": len(held_out)}


def forwards(*, rates: Sequence[float], images: int | None, **_: Any) -> int:
    """Plain passes of a sample that take about as long, an update counting as three."""
    ways = len(LOSSES) * 2 * len(rates)
    return ways * (images or MANY) * (3 * (HELD_OUT - 1) + DOMAINS) // HELD_OUT


def recipe(loss: str, ensembled: bool, rate: float, answers: Answers) -> Method:
    """A method that trains norm layers on a loss, with or without weight ensembling."""
    if loss == SUPERVISED:
        method = Method((Supervision(answers),), optimizer=OptimizerChoice(lr=rate))
    else:
        words = {ENTROPY: "tent", DIVERSE: "tent + certainty_diversity"}[loss]
        method = methods.build(words, lr=rate)
    return method.plus(SourceEnsembling(1 - PULL * rate)) if ensembled else method


def _errors(streams: dict[str, Adapter], shown: Iterator[Batch]) -> dict[str, float]:
    wrong, count = dict.fromkeys(streams, 0), 0
    for batch in shown:
        count += len(batch)
        for name, adapter in streams.items():
            wrong[name] += int((adapter.predict(batch.inputs).argmax(1) != batch.labels).sum())
    return {name: 100 * number / count for name, number in wrong.items()}


def split(domains: Domains, domain: str, images: int | None, seed: int) -> tuple[Indices, Indices]:
    """Numbers of the images to adapt to and of those to evaluate on, never the same ones."""
    shuffled = order(domains.labels(domain), None, seed, "generalization")[:images]
    kept = max(1, len(shuffled) // HELD_OUT)
    return shuffled[kept:], shuffled[:kept]


def show(
    domains: Domains, domain: str, severity: int, images: Indices, batch_size: int, seed: int
) -> Iterator[Batch]:
    stretch = plain_stretch(images, 0, 0 if domain == CLEAN else severity, starts_domain=True)
    return iter(Stream(domains, (domain,), (stretch,), batch_size, seed))


def _evaluated(domains: Domains) -> tuple[str, ...]:
    """All domains, and the source where its images are there."""
    return (*domains.names, CLEAN) if getattr(domains, "clean", None) else domains.names


@cache
def _backbone(model: str) -> Backbone:
    return models.load(model)


@cache
def load_domains(data: str) -> Domains:
    images = open_data(data)
    return Corrupted(images) if isinstance(images, LabelledImages) else images
