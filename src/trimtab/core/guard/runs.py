"""Temporal correlation of labels within a batch: a permutation test of the order of predictions.

A run makes one class of many samples, and so does a biased model, all the more when a domain has
just begun. But a bias, new or old, does not care for the order within a batch: shuffled, it would
look the same. Where classes come in runs, neighbours have the same class more often than any two
samples of the batch. Rules that correct outputs for the class prior of the moment are right there,
and elsewhere they make more of the bias. The test asks predictions alone, and costs no pass.
"""

import math
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from trimtab.core.backbone import Tensors

REACH = 16
"""Samples apart from which on two samples are no neighbours; nearer ones count the more."""
ALLOWANCE = 1.0
"""Deviations from a shuffled batch that chance is allowed in each."""
SEEN, MOST = 5.0, 16.0
"""Deviations beyond it, added up, from which on there are runs; and as many as are remembered."""
STANDING_OUT, FORGOTTEN = 3.0, 0.25
"""Deviations by which the classes of a batch stand out from those before it, so that a run may go
on, though it shows no order within the batch; and as many as are forgotten then, at most."""
IN_BATCH = 2.0
"""Deviations, of either kind, that a batch in which rules assume a run shows itself."""
ONE_CLASS = 0.7
"""Share of a batch in one class, from which on a batch that stands out is a run without order."""


class Weights(NamedTuple):
    """Sums over the weights of all pairs of samples, w: in total, of (2 w)² / 2, and over samples
    of the square of twice what their pairs weigh."""

    total: float
    squares: float
    by_sample: float


@cache
def pair_weights(samples: int) -> Weights:
    """Of a batch: the nearer a pair, the more it weighs; from ``REACH`` on it weighs nothing."""
    lags = range(1, min(REACH, samples))
    rows = torch.zeros(samples, dtype=torch.float64)
    for lag in lags:
        rows[lag:] += 1 - lag / REACH
        rows[:-lag] += 1 - lag / REACH
    squares = 4 * sum((1 - lag / REACH) ** 2 * (samples - lag) for lag in lags)
    return Weights(float(rows.sum()), squares, 4 * float(rows.square().sum()))


def order_within(said: Tensor) -> float:
    """By how much more alike neighbours are than they would be in a shuffled batch, in standard
    deviations over all its orders (Mantel's test); 0 where all orders look the same.

    Args:
        said: Classes in the order of their samples, shape (samples,).
    """
    count = len(said)
    if count < 4:
        return 0.0
    found = 2 * sum(
        (1 - lag / REACH) * int((said[lag:] == said[:-lag]).sum())
        for lag in range(1, min(REACH, count))
    )
    of_class = torch.bincount(said).double()
    same = float((of_class * (of_class - 1)).sum())
    by_sample = 4 * float((of_class * (of_class - 1).square()).sum())
    total, squares, rows = pair_weights(count)
    pairs = count * (count - 1)
    triples = pairs * (count - 2)
    mean = total * same / pairs
    variance = (
        squares * same / pairs
        + (rows - 2 * squares) * (by_sample - 4 * same) / (4 * triples)
        + (total**2 + squares - rows) * (same**2 + 2 * same - by_sample) / (triples * (count - 3))
        - mean**2
    )
    return (found - mean) / math.sqrt(variance) if variance > 1e-9 * max(mean, 1.0) ** 2 else 0.0


def noted(runs: Tensor, said: Tensor, standing_out: float) -> Tensor:
    """What is known of runs once a batch is predicted, shape (2,): deviations beyond the allowance,
    added up and never below 0 (CUSUM), and whether the batch is part of a run, 1 or 0.

    Args:
        runs: What was known before.
        said: Classes of the batch, before anything was corrected, shape (samples,).
        standing_out: Deviations by which they stand out from those before.
    """
    order = order_within(said)
    before, change = float(runs[0]), order - ALLOWANCE
    if before >= SEEN and standing_out >= STANDING_OUT:
        change = max(change, -FORGOTTEN)
    total = min(max(before + change, 0.0), MOST)
    seen = total >= SEEN and max(order, standing_out) >= IN_BATCH
    largest = float(torch.bincount(said).max()) / len(said)
    alone = largest >= ONE_CLASS and standing_out >= STANDING_OUT
    return runs.new_tensor([total, float(seen or alone)])


def are_seen(evidence: Tensors) -> bool:
    """Whether the latest predictions are part of a run."""
    return bool(evidence["runs"][1])
