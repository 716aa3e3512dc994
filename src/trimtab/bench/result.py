"""Results of a run as plain numbers: errors, calibration, cost."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

from trimtab.bench.spec import RunSpec
from trimtab.bench.typed import check_fields, shown


class CurvePoint(NamedTuple):
    """A stretch of a stream: its last sample's number, its error, and its class distance (TVD)."""

    last_sample: int
    error: float
    tvd: float


class DomainStart(NamedTuple):
    """How many samples came before a domain began, and the domain's name."""

    sample: int
    domain: str


class ConfidenceBin(NamedTuple):
    """Samples of like confidence: how many, their mean confidence, and the share that was right."""

    samples: int
    confidence: float
    right: float


@dataclass(frozen=True)
class Scores:
    """How a method did on a stream. Shares are between 0 and 1, curves run along the stream.

    Args:
        samples: Images in the stream.
        error: Share of wrong predictions over all samples.
        domain_error: The mean of the domains' errors, each counting once.
        errors: Share of wrong predictions by domain, in order of appearance.
        curve: For each of up to 60 equal stretches of the stream; its TVD is the total variation
            distance between predicted and true classes.
        tvd: That distance over the whole stream.
        predicted: How often each class was predicted.
        labels: How often each class was there.
        ece: Expected calibration error, 15 bins of equal width.
        nll: Mean negative log likelihood of the true class, in nats.
        reliability: For each bin of confidence.
        negative_flips: Share of samples that the source model has right and the method wrong.
        positive_flips: Share of samples that the source model has wrong and the method right.
        source_error: The source model's error on the same samples.
        collapsed: Whether more than half of the predictions in the last tenth of the stream
            would have to change class for the classes to come out as they were.
        parameter_distance: Distance of the trained parameters to the source, relative to the
            source's length.
        predicted_along: For each stretch of the curve, how often each class was predicted; of
            more than 100 classes, neighbours are counted together. Empty in older results.
        domain_starts: Where each domain begins; empty where domains change more than 60 times,
            as they do in mixed streams, and in older results.
        miou: Segmentation: mean intersection over union of the classes, over all pixels of the
            stream. Then all shares above are of pixels, and ``samples`` are images.
        mious: The same by domain.
    """

    samples: int
    error: float
    domain_error: float
    errors: dict[str, float]
    curve: list[CurvePoint]
    tvd: float
    predicted: list[int]
    labels: list[int]
    ece: float
    nll: float
    reliability: list[ConfidenceBin]
    negative_flips: float
    positive_flips: float
    source_error: float
    collapsed: bool
    parameter_distance: float
    predicted_along: list[list[int]] = field(default_factory=list)
    domain_starts: list[DomainStart] = field(default_factory=list)
    miou: float | None = None
    mious: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Cost:
    """What a run took.

    Args:
        forwards: Forward passes per sample.
        backwards: Backward passes per sample.
        multiple: Median time of a batch as a multiple of the source model's plain forward,
            measured in turns in the same run.
        samples_per_second: Throughput of the adapting model alone.
        peak_megabytes: Largest memory of the process during the run.
        updates: Optimiser steps.
        skipped_updates: Steps that were left out because they were not finite.
        resets: Returns to the source.
        trained_share: Share of the network's parameters that are trained; None where it was not
            recorded.
    """

    forwards: float
    backwards: float
    multiple: float
    samples_per_second: float
    peak_megabytes: float
    updates: int
    skipped_updates: int
    resets: int
    trained_share: float | None = None


@dataclass(frozen=True)
class RunResult:
    """One run: done, with scores and cost, or failed, with its error."""

    spec: RunSpec
    status: Literal["done", "failed"]
    started: str
    seconds: float
    machine: Mapping[str, Any] = field(default_factory=dict)
    scores: Scores | None = None
    cost: Cost | None = None
    error: str | None = None

    def to_json(self) -> str:
        """Readable JSON."""
        values = asdict(self) | {"id": self.spec.id, "spec": self.spec.to_json()}
        return json.dumps(values, indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "RunResult":
        """What ``to_json`` wrote."""
        values = json.loads(text)
        if not isinstance(values, dict):
            raise ValueError(f"a result must be a JSON object, got {shown(values)}")
        values.pop("id", None)
        values["spec"] = RunSpec.from_json(_part(values, "spec"))
        if values["scores"] is not None:
            scores = _part(values, "scores")
            check_fields(Scores, scores)
            curves = {
                "curve": [CurvePoint(*point) for point in scores["curve"]],
                "reliability": [ConfidenceBin(*entry) for entry in scores["reliability"]],
                "domain_starts": [DomainStart(*s) for s in scores.get("domain_starts", [])],
            }
            values["scores"] = Scores(**scores | curves)
        if values["cost"] is not None:
            check_fields(Cost, _part(values, "cost"))
            values["cost"] = Cost(**values["cost"])
        check_fields(cls, values)
        return cls(**values)


def _part(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    part = values[name]
    if not isinstance(part, dict):
        raise ValueError(f"{name} must be a JSON object, got {shown(part)}")
    return part
