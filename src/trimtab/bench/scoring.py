"""Error, calibration (ECE) and bias along a stream: predictions are scored as they are made."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from trimtab.bench.result import ConfidenceBin, CurvePoint, DomainStart, Scores

CONFIDENCE_BINS = 15
CURVE_POINTS = 60
CLASS_GROUPS = 100
"""Most classes, or groups of neighbouring ones, that are counted along the stream."""

COLLAPSE_DISTANCE = 0.5


def total_variation(first: Tensor, second: Tensor) -> float:
    """Distance of two histograms as distributions: half the sum of absolute differences."""
    return float((first / first.sum() - second / second.sum()).abs().sum() / 2)


@dataclass
class Scorer:
    """Adds up what is needed for the scores, a few numbers a sample.

    Args:
        num_classes: Width of the logits.
        domain_names: What the domain numbers of batches mean.
    """

    num_classes: int
    domain_names: Sequence[str]
    _labels: list[Tensor] = field(default_factory=list)
    _predicted: list[Tensor] = field(default_factory=list)
    _source: list[Tensor] = field(default_factory=list)
    _confidence: list[Tensor] = field(default_factory=list)
    _nll: list[Tensor] = field(default_factory=list)
    _domain: list[Tensor] = field(default_factory=list)

    def update(self, logits: Tensor, labels: Tensor, domain: Tensor, source_logits: Tensor) -> None:
        """Score one batch: the method's logits and the source model's on the same samples."""
        log_probs = logits.detach().cpu().double().log_softmax(1)
        confidence, predicted = log_probs.exp().max(1)
        self._labels.append(labels.cpu())
        self._predicted.append(predicted)
        self._confidence.append(confidence)
        self._nll.append(-log_probs.gather(1, labels.cpu()[:, None])[:, 0])
        self._source.append(source_logits.detach().cpu().argmax(1))
        self._domain.append(domain.cpu())

    def scores(self, parameter_distance: float) -> Scores:
        """Everything about the stream so far."""
        labels, predicted = torch.cat(self._labels), torch.cat(self._predicted)
        right = predicted == labels
        source_right = torch.cat(self._source) == labels
        domain = torch.cat(self._domain)
        errors = self._errors(right, domain)
        reliability = self._reliability(right, torch.cat(self._confidence))
        return Scores(
            samples=len(labels),
            error=_share(~right),
            domain_error=sum(errors.values()) / len(errors),
            errors=errors,
            curve=self._curve(labels, predicted),
            tvd=total_variation(self._histogram(predicted), self._histogram(labels)),
            predicted=self._histogram(predicted).int().tolist(),
            labels=self._histogram(labels).int().tolist(),
            ece=sum(n * abs(sure - hit) for n, sure, hit in reliability) / len(labels),
            nll=float(torch.cat(self._nll).mean()),
            reliability=reliability,
            negative_flips=_share(source_right & ~right),
            positive_flips=_share(~source_right & right),
            source_error=_share(~source_right),
            collapsed=self._collapsed(labels, predicted),
            parameter_distance=parameter_distance,
            predicted_along=[self._grouped(predicted[part]) for part in stretches(len(labels))],
            domain_starts=domain_starts(domain, self.domain_names),
        )

    def _histogram(self, classes: Tensor) -> Tensor:
        return torch.bincount(classes, minlength=self.num_classes).double()

    def _errors(self, right: Tensor, domain: Tensor) -> dict[str, float]:
        seen = dict.fromkeys(domain.tolist())  # in order of appearance
        return {self.domain_names[number]: _share(~right[domain == number]) for number in seen}

    def _curve(self, labels: Tensor, predicted: Tensor) -> list[CurvePoint]:
        points = []
        for part in stretches(len(labels)):
            truth, guess = labels[part], predicted[part]
            distance = total_variation(self._histogram(guess), self._histogram(truth))
            points.append(CurvePoint(part.stop, _share(truth != guess), distance))
        return points

    def _grouped(self, classes: Tensor) -> list[int]:
        """How often each class is there, or each group of neighbours where there are many."""
        width = math.ceil(self.num_classes / CLASS_GROUPS)
        counts = self._histogram(classes).int().split(width)
        return [int(group.sum()) for group in counts]

    def _reliability(self, right: Tensor, confidence: Tensor) -> list[ConfidenceBin]:
        bins = (confidence * CONFIDENCE_BINS).long().clamp(max=CONFIDENCE_BINS - 1)
        rows = []
        for index in range(CONFIDENCE_BINS):
            inside = bins == index
            count = int(inside.sum())
            sure = float(confidence[inside].mean()) if count else 0.0
            rows.append(ConfidenceBin(count, sure, _share(right[inside]) if count else 0.0))
        return rows

    def _collapsed(self, labels: Tensor, predicted: Tensor) -> bool:
        tail = max(1, len(labels) // 10)
        truth, guess = self._histogram(labels[-tail:]), self._histogram(predicted[-tail:])
        return total_variation(guess, truth) > COLLAPSE_DISTANCE


def domain_starts(domain: Tensor, names: Sequence[str]) -> list[DomainStart]:
    """Where another domain begins; nothing where that happens too often to be drawn.

    Args:
        domain: The number of each sample's domain, a place in ``names``.
    """
    starts = [0, *(1 + (domain[1:] != domain[:-1]).nonzero()[:, 0]).tolist()]
    if len(starts) > CURVE_POINTS:
        return []
    return [DomainStart(place, names[int(domain[place])]) for place in starts]


def stretches(samples: int) -> list[slice]:
    """Up to 60 equal parts of the stream."""
    count = min(CURVE_POINTS, samples)
    stops = [round(samples * (i + 1) / count) for i in range(count)]
    return [slice(start, stop) for start, stop in zip([0, *stops[:-1]], stops, strict=True)]


def _share(chosen: Tensor) -> float:
    return float(chosen.double().mean())
