"""Laplacian regularisation: similar features, like labels (LAME, arXiv:2201.05718)."""

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import normalize

from trimtab.core.backbone import Tensors
from trimtab.core.component import OutputRule, Step
from trimtab.core.ranges import check_counts

Affinity = Literal["rbf", "knn", "linear"]

MOST_ROUNDS = 100
ENERGY_TOLERANCE = 1e-8
LEAST_PROB = 1e-10
LEAST_LOG_PROB = math.log(1e-20)


@dataclass(frozen=True)
class Laplacian(OutputRule):
    """Probabilities near the model's own that vary little between neighbours in feature space.

    Neighbours are sought in the batch, or in the window of recent samples. A sample alone keeps
    its prediction.

    Args:
        affinity: ``"rbf"`` falls with the distance, by a width that the batch itself sets;
            ``"knn"`` is 1 for the nearest ones; ``"linear"`` is the cosine.
        neighbors: How many samples are near. For ``"rbf"`` the sample itself is one of them.
        symmetric: Average the affinity of each pair over both directions.
    """

    affinity: Affinity = "rbf"
    neighbors: int = 5
    symmetric: bool = False

    not_dense = "compares every prediction with every other, a table of pixels by pixels"

    def __post_init__(self) -> None:
        if self.affinity not in _AFFINITIES:
            raise ValueError(f"affinity must be 'rbf', 'knn' or 'linear', got {self.affinity!r}")
        check_counts(self, "neighbors")

    def correct(self, logits: Tensor, step: Step, memory: Tensors) -> Tensor:
        recent = step.recent.features
        features = step.features if recent is None else recent
        earlier = step.recent.logits[: len(features) - len(logits)]
        if len(features) == 1:
            return logits
        affinity = _AFFINITIES[self.affinity](normalize(features), self.neighbors)
        if self.symmetric:
            affinity = (affinity + affinity.T) / 2
        log_probs = smoothed(torch.cat([earlier, logits]).softmax(1), affinity.to(logits.dtype))
        return log_probs[-len(logits) :]


def smoothed(probs: Tensor, affinity: Tensor) -> Tensor:
    """Log probabilities that minimise LAME's energy, found by rounds of its concave bound.

    ``probs`` is (samples, classes), ``affinity`` (samples, samples).
    """
    log_own = (probs + LEAST_PROB).log()
    log_probs, energy = log_own.log_softmax(1), torch.tensor(torch.inf)
    for round_ in range(MOST_ROUNDS):
        pull = affinity @ log_probs.exp()
        log_probs = (log_own + pull).log_softmax(1)
        cost = log_probs.clamp(min=LEAST_LOG_PROB) - log_own - pull
        before, energy = energy, (log_probs.exp() * cost).sum()
        if round_ > 1 and bool((energy - before).abs() <= ENERGY_TOLERANCE * before.abs()):
            break
    return log_probs


def _rbf(features: Tensor, neighbors: int) -> Tensor:
    distances = _distances(features)
    reach = distances.kthvalue(min(neighbors, len(features)), dim=1).values.mean()
    # Where all samples are the same their distances are 0, and so is this width.
    width = reach.clamp(min=torch.finfo(features.dtype).tiny ** 0.5)
    return torch.exp(-(distances / width).square() / 2)


def _knn(features: Tensor, neighbors: int) -> Tensor:
    distances = _distances(features).fill_diagonal_(torch.inf)
    nearest = distances.topk(min(neighbors, len(features) - 1), largest=False).indices
    return torch.zeros_like(distances).scatter_(1, nearest, 1.0)


def _linear(features: Tensor, neighbors: int) -> Tensor:
    return features @ features.T


def _distances(features: Tensor) -> Tensor:
    # Exact differences: through a matrix product equal samples would seem to differ.
    return torch.cdist(features, features, compute_mode="donot_use_mm_for_euclid_dist")


_AFFINITIES = {"rbf": _rbf, "knn": _knn, "linear": _linear}
