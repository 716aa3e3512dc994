"""Change detection between two models' predictions of few samples (CUSUM), without views.

Views, which tell harm, are dear and have to be saved for, and harm may begin meanwhile. Where it
does, the models begin to differ, or the source model begins to say the same of neighbours and the
adapted one does not: so look runs of one class where batch norms erase it. A glance at what both
models say shows that for the price of the source's pass. It proves nothing: it calls for a look.
"""

import torch
from torch import Tensor

from trimtab.core.guard.look import COLUMNS
from trimtab.core.shares import class_shares

GLANCE_SAMPLES, SURPRISED_SAMPLES = 8, 16
"""Samples of a batch that are glanced at, and of one that is surprising."""
SMALL_PASS = 8
"""A pass of few samples takes as long as if there were so many more."""
SLACK = 0.1
"""By which a sign exceeds the usual before it counts."""
CALL = 4.0
"""Excess of both signs, added up over samples, that calls for a look."""
SIGNS = 2

AGREEMENT, OWN, SOURCE = (COLUMNS.index(n) for n in ("agreement", "class", "source_class"))


def samples(surprising: bool) -> int:
    """How many samples of a batch to glance at."""
    return SURPRISED_SAMPLES if surprising else GLANCE_SAMPLES


def places(samples: int, batches: int, count: int) -> slice:
    """Which ``count`` samples of a batch to glance at: evenly spread, others in each batch."""
    stride = max(1, samples // count)
    return slice(batches % stride, stride * count, stride)


def signs(rows: Tensor) -> Tensor:
    """Of samples that were looked at, (samples, COLUMNS): the share on which the models differ, and
    the share of pairs of which the source says one class, less that of the adapted; float64."""
    same = [_pairs(rows[:, place].long()) for place in (SOURCE, OWN)]
    return torch.tensor(
        [1 - float(rows[:, AGREEMENT].mean()), same[0] - same[1]], dtype=torch.float64
    )


def added_up(sums: Tensor, rows: Tensor, ring: Tensor, last_look: Tensor) -> Tensor:
    """Excess of each sign over the usual, added up and never below 0 (Page, 1954): (SIGNS,).

    Args:
        sums: Before this glance.
        rows: Of the samples glanced at.
        ring: Of those before them, the latest first.
        last_look: Signs in the last look with views; what it has shown is no news.
    """
    latest = torch.cat([rows, ring])[: max(GLANCE_SAMPLES, len(rows))]
    usual = signs(ring).maximum(last_look)
    return (sums + len(rows) * (signs(latest) - usual - SLACK)).clamp(min=0.0)


def _pairs(said: Tensor) -> float:
    """Share of all pairs of samples that have the same class."""
    count = len(said)
    shares = class_shares(said, 1)
    return float((shares * (shares * count - 1)).sum()) / max(count - 1, 1)
