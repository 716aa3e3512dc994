"""Class-balanced mean prediction: long runs of a class count for less (importance weighting).

A mean over samples takes a class that comes for thousands of samples in a row for a bias of the
model. Over classes it does not: what is predicted of a class counts for about as much as what is
predicted of the others, however long its runs are.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[Any]

FREE_SAMPLES = 64.0
"""Samples of a class that count in full, however few of others have been seen."""
EARLY = 0.25
"""Share of what the others have from which on a class counts for less: while few classes have been
seen, each of them has a large share of the mean, and so seems to be favoured."""
STEEPNESS = 2.0
"""Power at which the weight of further samples falls with the class's share."""


def weights(counted: Numbers) -> Numbers:
    """What one more sample of each class counts for in a mean that has ``counted`` them, 0 to 1.

    Below 1 where a class has more than a part of what the others have, on average over their
    samples, so that classes which never come do not matter.
    """
    others = np.maximum(counted.sum() - counted, 1e-6)
    typical = np.maximum((counted**2).sum() - counted**2, 0) / others
    share = np.maximum(FREE_SAMPLES, EARLY * typical) / np.maximum(counted, 1e-6)
    return np.asarray(np.minimum(1.0, share) ** STEEPNESS)
