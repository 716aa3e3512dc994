"""Intersection over union (mIoU), pixel error and calibration along a stream of segmented images.

A stream has millions of pixels, so nothing is kept of a pixel but what it adds to counts: a
confusion matrix for each domain, classes for each image, and bins of confidence.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn.functional import interpolate

from trimtab.bench.result import ConfidenceBin, CurvePoint, Scores
from trimtab.bench.scoring import (
    CLASS_GROUPS,
    COLLAPSE_DISTANCE,
    CONFIDENCE_BINS,
    domain_starts,
    stretches,
    total_variation,
)
from trimtab.streams.data import IGNORED


@dataclass
class PixelScorer:
    """Adds up what is needed for the scores of a segmentation model.

    Args:
        num_classes: Width of the logits.
        domain_names: What the domain numbers of batches mean.
    """

    num_classes: int
    domain_names: Sequence[str]
    _confusion: dict[int, Tensor] = field(default_factory=dict)
    _images: list[Tensor] = field(default_factory=list)
    _domain: list[int] = field(default_factory=list)
    _bins: Tensor = field(default_factory=lambda: torch.zeros(3, CONFIDENCE_BINS).double())
    _nll: float = 0.0
    _flips: Tensor = field(default_factory=lambda: torch.zeros(3, dtype=torch.long))

    def update(self, logits: Tensor, labels: Tensor, domain: Tensor, source_logits: Tensor) -> None:
        """Score a batch, an image at a time: both models' logits, (batch, classes, ...).

        Args:
            labels: (batch, height, width); pixels of ``IGNORED`` count nowhere.
        """
        images = zip(logits, labels, domain.tolist(), source_logits, strict=True)
        for image, truth, number, source in images:
            self._add(*_labelled(image, source, truth.cpu()), number)

    def _add(self, log_probs: Tensor, source: Tensor, truth: Tensor, domain: int) -> None:
        """Score the labelled pixels of an image.

        Args:
            log_probs: (classes, pixels).
            source: What the source model says, (pixels,).
        """
        confidence, predicted = log_probs.exp().max(0)
        pairs = torch.bincount(truth * self.num_classes + predicted, minlength=self.num_classes**2)
        matrix = pairs.view(self.num_classes, self.num_classes)
        self._confusion[domain] = self._confusion.get(domain, torch.zeros_like(matrix)) + matrix
        self._domain.append(domain)
        self._images.append(torch.stack([matrix.sum(1), matrix.sum(0), matrix.diagonal()]))
        right, source_right = predicted == truth, source == truth
        bins = (confidence * CONFIDENCE_BINS).long().clamp(max=CONFIDENCE_BINS - 1)
        for row, values in enumerate((torch.ones_like(confidence), confidence, right.double())):
            self._bins[row].index_add_(0, bins, values)
        self._nll -= float(log_probs.gather(0, truth[None]).sum())
        flips = (source_right & ~right, ~source_right & right, ~source_right)
        self._flips += torch.stack([flip.sum() for flip in flips])

    def scores(self, parameter_distance: float) -> Scores:
        """Everything about the stream so far; ``samples`` are images, shares are of pixels."""
        truth, predicted, right = torch.stack(self._images, 1)  # (images, classes) each
        pixels = int(truth.sum())
        errors = {self.domain_names[n]: _error(matrix) for n, matrix in self._confusion.items()}
        mious = {self.domain_names[n]: mean_iou(matrix) for n, matrix in self._confusion.items()}
        reliability = [ConfidenceBin(int(n), *_means(n, *sums)) for n, *sums in self._bins.T]
        negative, positive, source_wrong = (int(flips) / pixels for flips in self._flips)
        parts = stretches(len(truth))
        tail = slice(-max(1, len(truth) // 10), None)
        return Scores(
            samples=len(truth),
            error=1 - int(right.sum()) / pixels,
            domain_error=sum(errors.values()) / len(errors),
            errors=errors,
            curve=[_point(part, truth[part], predicted[part], right[part]) for part in parts],
            tvd=_distance(truth, predicted),
            predicted=predicted.sum(0).tolist(),
            labels=truth.sum(0).tolist(),
            ece=sum(n * abs(sure - hit) for n, sure, hit in reliability) / pixels,
            nll=self._nll / pixels,
            reliability=reliability,
            negative_flips=negative,
            positive_flips=positive,
            source_error=source_wrong,
            collapsed=_distance(truth[tail], predicted[tail]) > COLLAPSE_DISTANCE,
            parameter_distance=parameter_distance,
            predicted_along=[_grouped(predicted[part].sum(0)) for part in parts],
            domain_starts=domain_starts(torch.tensor(self._domain), self.domain_names),
            miou=mean_iou(torch.stack(list(self._confusion.values())).sum(0)),
            mious=mious,
        )


def mean_iou(confusion: Tensor) -> float:
    """Mean intersection over union of the classes that are there or are predicted.

    Args:
        confusion: Pixels by true class (rows) and predicted class (columns).
    """
    right = confusion.diagonal().double()
    union = confusion.sum(0) + confusion.sum(1) - confusion.diagonal()
    shown = union > 0
    return float((right[shown] / union[shown]).mean()) if bool(shown.any()) else 0.0


def _labelled(logits: Tensor, source: Tensor, truth: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Log probabilities (classes, pixels), the source's classes and the true ones (pixels,)."""
    kept = truth != IGNORED
    sized = [_sized(part.detach().cpu(), truth) for part in (logits, source)]
    log_probs = sized[0][:, kept].double().log_softmax(0)
    return log_probs, sized[1][:, kept].argmax(0), truth[kept]


def _sized(logits: Tensor, truth: Tensor) -> Tensor:
    """Logits at the size of the labels; models may give smaller ones."""
    if logits.shape[-2:] == truth.shape:
        return logits
    return interpolate(logits[None], truth.shape, mode="bilinear")[0]


def _error(confusion: Tensor) -> float:
    return 1 - int(confusion.diagonal().sum()) / max(int(confusion.sum()), 1)


def _distance(truth: Tensor, predicted: Tensor) -> float:
    return total_variation(predicted.sum(0).double(), truth.sum(0).double())


def _point(part: slice, truth: Tensor, predicted: Tensor, right: Tensor) -> CurvePoint:
    error = 1 - int(right.sum()) / max(int(truth.sum()), 1)
    return CurvePoint(part.stop, error, _distance(truth, predicted))


def _means(count: Tensor, *sums: Tensor) -> tuple[float, float]:
    first, second = (float(total) / max(float(count), 1.0) for total in sums)
    return first, second


def _grouped(counts: Tensor) -> list[int]:
    """How often each class is predicted, or each group of neighbours where there are many."""
    width = -(-len(counts) // CLASS_GROUPS)
    return [int(group.sum()) for group in counts.split(width)]
