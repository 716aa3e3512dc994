"""One run, prequential: predict, score, adapt; the only loop that holds inputs and labels."""

import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import torch
from torch import Tensor

import trimtab
from trimtab import models, streams
from trimtab.bench import gate
from trimtab.bench.clock import timed
from trimtab.bench.data import open_data, open_source_data
from trimtab.bench.machine import forget_peak_memory, machine, peak_megabytes
from trimtab.bench.pixel_scoring import PixelScorer
from trimtab.bench.result import Cost, RunResult, Scores
from trimtab.bench.scoring import Scorer
from trimtab.bench.source_passes import SourcePasses, keep, source_passes
from trimtab.bench.spec import RunSpec
from trimtab.core.adapter import Adapter
from trimtab.core.backbone import Backbone
from trimtab.streams.data import LabelledImages
from trimtab.streams.remembered import Remembered
from trimtab.streams.scenarios import Single
from trimtab.streams.stream import Stream

SOURCE_IMAGES = 2000
"""Most images that a method which asks for source data gets."""

Progress = Callable[[int, int], None]


def run(spec: RunSpec, progress: Progress = lambda done, total: None) -> RunResult:
    """Do one run; a run that fails is a result too, with its error."""
    started, clock = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), time.perf_counter()
    facts: dict[str, Any] = {"spec": spec, "started": started, "machine": machine()}
    try:
        scores, cost = _measure(spec, progress)
    except Exception as error:  # one bad run must not stop the others
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        seconds = time.perf_counter() - clock
        return RunResult(**facts, status="failed", seconds=seconds, error=f"{kind}{error}")
    seconds = time.perf_counter() - clock
    return RunResult(**facts, status="done", seconds=seconds, scores=scores, cost=cost)


def _measure(spec: RunSpec, progress: Progress) -> tuple[Scores, Cost]:
    backbone = backbone_of(spec.model)
    if spec.weights not in (None, models.fingerprint(spec.model)):
        raise gate.GateError(f"{spec.model} no longer has the weights {spec.weights}")
    images = _images(spec.data)
    gate_of(spec.model, spec.data)
    stream = streams.scenario(spec.scenario).stream(
        images,
        seed=spec.seed,
        batch_size=spec.batch_size,
        severity=spec.severity,
        images_per_domain=spec.images_per_domain,
    )
    adapter = _adapter(spec, backbone)
    forget_peak_memory()
    shown = replace(spec, method="source", options={}, window=None).canonical()
    passes = source_passes(shown, backbone)
    found = _follow(stream, adapter, passes, progress)
    keep(shown, passes)
    return found


def _follow(
    stream: Stream, adapter: Adapter, passes: SourcePasses, progress: Progress
) -> tuple[Scores, Cost]:
    scorer: Scorer | PixelScorer | None = None
    seconds: list[float] = []
    plain_seconds: list[float | None] = []
    for batch in stream:
        if batch.reset:
            adapter.reset()
        source_logits, plain = passes(batch.inputs)
        logits, own = timed(_adapted, adapter, batch.inputs)
        plain_seconds.append(plain)
        seconds.append(own)
        if scorer is None:
            kind = PixelScorer if adapter.backbone.task.is_dense else Scorer
            scorer = kind(logits.shape[1], stream.domain_names)
        scorer.update(logits, batch.labels, batch.domain, source_logits)
        progress(len(seconds), len(stream))
    assert scorer is not None  # a stream holds at least one batch
    return scorer.scores(_distance(adapter)), _cost(adapter, seconds, plain_seconds)


def _adapted(adapter: Adapter, inputs: Tensor) -> Tensor:
    return adapter(inputs)


def _cost(adapter: Adapter, seconds: list[float], plain_seconds: list[float | None]) -> Cost:
    counters = adapter.counters
    pairs = zip(seconds, plain_seconds, strict=True)
    ratios = [own / plain for own, plain in pairs if plain is not None]
    return Cost(
        forwards=counters.forward_samples / counters.samples,
        backwards=counters.backward_samples / counters.samples,
        multiple=statistics.median(ratios),
        samples_per_second=counters.samples / sum(seconds),
        peak_megabytes=peak_megabytes(),
        updates=counters.updates,
        skipped_updates=counters.skipped_updates,
        resets=counters.resets,
        trained_share=_trained_share(adapter),
    )


def _trained_share(adapter: Adapter) -> float:
    every = sum(parameter.numel() for parameter in adapter.backbone.model.parameters())
    return sum(parameter.numel() for parameter in adapter.params.values()) / every


@torch.no_grad()
def _distance(adapter: Adapter) -> float:
    if not adapter.params:
        return 0.0
    pairs = [(adapter.params[name], adapter.source[name]) for name in adapter.params]
    moved = sum(float((param - source).square().sum()) for param, source in pairs)
    length = sum(float(source.square().sum()) for _, source in pairs)
    return float((moved / length) ** 0.5)


def _adapter(spec: RunSpec, backbone: Backbone) -> Adapter:
    options = dict(spec.options)
    if options.get("source_data") == "source":
        options["source_data"] = _source_data(spec)
    return trimtab.adapt(backbone, spec.method, seed=spec.seed, window=spec.window, **options)


def _source_data(spec: RunSpec) -> list[tuple[Tensor, Tensor]]:
    """Source images for methods that need some, in batches: the spec says so, none is hidden."""
    images = open_source_data(spec.data)
    stream = Single(domain="clean", images_per_domain=min(SOURCE_IMAGES, len(images))).stream(
        images, seed=spec.seed, batch_size=spec.batch_size
    )
    return [(batch.inputs, batch.labels) for batch in stream]


def _clean(images: Any) -> LabelledImages | None:
    return images if isinstance(images, LabelledImages) else getattr(images, "clean", None)


@cache
def backbone_of(model: str) -> Backbone:
    return models.load(model)


@cache
def _images(data: str) -> Any:
    images = open_data(data)
    return Remembered(images) if isinstance(images, LabelledImages) else images


@cache
def gate_of(model: str, data: str) -> float | None:
    clean = _clean(_images(data))
    return None if clean is None else gate.check(model, backbone_of(model), data, clean)
