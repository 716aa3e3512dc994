"""Which method looks best on unlabelled data: gains over no adaptation, estimated without labels.

A prediction seems right where the model says the same of a mirrored view. A model that says one
class of everything agrees with itself for nothing, unless there is only one class to see. So what
chance gives among the classes that it predicts is taken off, as in Cohen's kappa, where classes
stand out of what any of the methods says (``prominence``), which they do where many are there. How
often the choice is the true best one is measured in docs/compare.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import Tensor

from trimtab.api import adapt
from trimtab.augment import mirrored
from trimtab.core.adapter import Adapter
from trimtab.core.backbone import Backbone
from trimtab.core.prominence import prominence
from trimtab.core.shares import class_shares

METHODS = ("bn1", "neo", "tent", "roid", "asr", "trimtab")
"""Compared with no adaptation unless others are named."""

SOURCE = "source"
DEVIATIONS = 2.0
"""Standard errors by which a gain has to be above zero to be clear."""
FEWEST_BATCHES = 4
"""Fewer do not show how sure an estimate is."""

ONE_CLASS, MANY_CLASSES = 1.2, 1.25
"""Prominence up to which a stream may show a single class, and from which on it shows many."""
POOL = 64
"""Samples, at least, of which prominence is taken. With more classes than that it says little, and
a stream is taken to show many."""


@dataclass(frozen=True)
class Estimate:
    """What is known of a method without labels.

    Args:
        gain: Estimated gain in accuracy over no adaptation, a share.
        error: Standard error of the gain, from batch to batch.
        agreement: Share of images on which the method says what the source model says.
        passes: Forward passes for each image, a pass backward counted as two.
        refused: Why the method could not be tried; the numbers are then of no worth.
    """

    method: str
    gain: float = 0.0
    error: float = math.inf
    agreement: float = 1.0
    passes: float = 1.0
    refused: str = ""

    @property
    def is_clear(self) -> bool:
        """Whether the method is clearly better than no adaptation."""
        return not self.refused and self.gain - DEVIATIONS * self.error > 0


@dataclass(frozen=True)
class Comparison:
    """Estimates of all methods on one stream, and what follows."""

    images: int
    stability: float
    """Share of images of which the source model says the same when they are mirrored."""
    estimates: tuple[Estimate, ...]
    variety: float = 1.0
    """How sure it is that the stream shows many classes, 0 to 1."""

    @property
    def choice(self) -> str:
        """The clearly better method of the largest gain, less its error; ``source`` without one."""
        clear = [estimate for estimate in self.estimates if estimate.is_clear]
        best = max(clear, key=lambda estimate: estimate.gain - estimate.error, default=None)
        return SOURCE if best is None else best.method

    def record(self) -> dict[str, Any]:
        """All of it as plain data, for JSON; what is infinite is null."""
        rows = [asdict(estimate) for estimate in self.estimates]
        for row in rows:
            row["error"] = row["error"] if math.isfinite(row["error"]) else None
        known = {
            "images": self.images,
            "source_stability": self.stability,
            "variety": self.variety,
        }
        return {**known, "choice": self.choice, "estimates": rows}


@dataclass
class Said:
    """Classes that a model predicted, batch by batch, of images and of their mirror images."""

    classes: list[Tensor] = field(default_factory=list)
    mirrored: list[Tensor] = field(default_factory=list)
    count: int = 2
    pooled: list[Tensor] = field(default_factory=list)
    """Logits that wait until they are ``POOL`` samples."""
    prominences: list[float] = field(default_factory=list)

    def take(self, logits: Tensor, view: Tensor) -> None:
        """Remember a batch."""
        self.classes.append(logits.argmax(1).cpu())
        self.mirrored.append(view.argmax(1).cpu())
        self.count = logits.shape[1]
        self.pooled.append(logits.detach())
        if sum(map(len, self.pooled)) >= POOL:
            self.prominences.append(prominence(torch.cat(self.pooled)))
            self.pooled.clear()

    @property
    def prominence(self) -> float:
        """How far classes stand out of the logits; 1 is chance, and of few samples it is that."""
        return sum(self.prominences) / len(self.prominences) if self.prominences else 1.0

    def rightness(self, variety: float) -> list[Tensor]:
        """How right each prediction seems, batch by batch: 1 where it is stable, less chance.

        Args:
            variety: Weight of chance, 0 to 1: how sure it is that many classes are there.
        """
        shares = [
            class_shares(torch.cat(said), self.count) for said in (self.classes, self.mirrored)
        ]
        chance = variety * float((shares[0] * shares[1]).sum())
        pairs = zip(self.classes, self.mirrored, strict=True)
        return [(said == seen).double() - chance for said, seen in pairs]


def variety(said: Iterable[Said]) -> float:
    """How sure it is that a stream shows many classes, 0 to 1, from what several models say."""
    known = list(said)
    if max(one.count for one in known) > POOL:
        return 1.0
    most = max(one.prominence for one in known)
    return min(max((most - ONE_CLASS) / (MANY_CLASSES - ONE_CLASS), 0.0), 1.0)


@dataclass
class _Candidate:
    """A method on its way along the stream."""

    method: str
    adapter: Adapter | None
    refused: str = ""
    said: Said = field(default_factory=Said)

    def take(self, batch: Tensor, view: Tensor) -> None:
        if self.adapter is None:
            return
        try:
            seen = self.adapter.predict(view)
            self.said.take(self.adapter(batch), seen)
        except ValueError as error:
            self.adapter, self.refused = None, str(error)

    def estimate(self, source: Said, variety: float) -> Estimate:
        if self.adapter is None:
            return Estimate(self.method, refused=self.refused)
        pairs = zip(self.said.rightness(variety), source.rightness(variety), strict=True)
        gains = torch.stack([(own - other).mean() for own, other in pairs])
        known = len(gains) >= FEWEST_BATCHES
        error = float(gains.std()) / len(gains) ** 0.5 if known else math.inf
        counters = self.adapter.counters
        passes = (counters.forward_samples + 2 * counters.backward_samples) / counters.samples
        agrees = torch.cat(self.said.classes) == torch.cat(source.classes)
        agreement = float(agrees.double().mean())
        return Estimate(self.method, float(gains.mean()), error, agreement, passes)


def compare(
    backbone: Backbone,
    batches: Iterable[Tensor],
    methods: Sequence[str] = METHODS,
    *,
    seed: int = 0,
    progress: Callable[[int], object] = lambda images: None,
) -> Comparison:
    """Estimate, without labels, what methods gain on a stream over the source model.

    All methods see each batch once, in the order in which batches come. Each image passes the
    network twice for the source model, and for each method as often as it takes and once more.

    Args:
        batches: Inputs of the network, (batch, channels, height, width).
        methods: Names or compositions; one that cannot be tried says why.
        progress: Called with the number of images so far.
    """
    source, said = adapt(backbone, SOURCE, seed=seed), Said()
    candidates = [_candidate(backbone, method, seed) for method in methods]
    images = 0
    for batch in batches:
        view = mirrored(batch)
        said.take(source(batch), source.predict(view))
        for candidate in candidates:
            candidate.take(batch, view)
        images += len(batch)
        progress(images)
    if not images:
        raise ValueError("there are no images to compare methods on")
    same = torch.cat(said.classes) == torch.cat(said.mirrored)
    stability = float(same.double().mean())
    many = variety([said, *(one.said for one in candidates if one.adapter is not None)])
    estimates = tuple(one.estimate(said, many) for one in candidates)
    return Comparison(images, stability, estimates, many)


def _candidate(backbone: Backbone, method: str, seed: int) -> _Candidate:
    try:
        return _Candidate(method, adapt(backbone, method, seed=seed))
    except ValueError as error:
        return _Candidate(method, None, str(error))
