"""Local label shift: a few classes alternate for a while, and others afterwards (class sets).

The prior of a sample is a mean of its neighbours' classes, weighted by distance in time.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[Any]

LOCAL_SHARE = 0.9
"""Share of the prior that neighbours decide; the stream at large decides the rest."""
DOUBTED_SETS = 20.0
"""As many sets have to be seen for half of a mean prediction to be taken for bias."""
ROUNDS = 4
"""Passes in which neighbours' corrected predictions correct each other."""


def predictive(
    evidence: Numbers, fresh: Numbers, horizons: Numbers, before: Numbers
) -> tuple[Numbers, Numbers]:
    """How likely each step's evidence was given the classes of the steps before it.

    ``before`` (horizons, classes) are exponentially weighted means of earlier classes, as far as
    they are known, and ``horizons`` their lengths in samples. Likelihoods (steps, horizons), and
    the means afterwards.
    """
    pace = (1 / horizons)[:, None]
    totals = np.empty((len(evidence), len(horizons)), before.dtype)
    local = before
    for step, likelihood in enumerate(evidence):
        joint = (LOCAL_SHARE * local + (1 - LOCAL_SHARE) * fresh[step]) * likelihood
        totals[step] = joint.sum(-1)
        local = local + pace * (joint / totals[step, :, None] - local)
    return totals, local


def bias(mean: Numbers, counted: float, horizon: float) -> Numbers:
    """What the model is taken to predict where all classes are as frequent, (samples, classes).

    A mean of predictions tells it only as far as it is over many sets: one set a horizon.
    """
    known = counted / horizon / (counted / horizon + DOUBTED_SETS)
    return np.asarray(known * mean + (1 - known) / mean.shape[1])


def corrected(
    probs: Numbers, evidence: Numbers, fresh: Numbers, horizon: float, before: Numbers
) -> Numbers:
    """Class probabilities under a local prior of one horizon, (steps, classes).

    Neighbours are the batch, before and after, and ``before`` (classes,), the mean of what came
    earlier. A sample is not its own neighbour.
    """
    steps = np.arange(len(probs))
    decay = 1 - 1 / horizon
    near = decay ** np.abs(steps[:, None] - steps[None]).clip(min=1) / decay
    np.fill_diagonal(near, 0)
    earlier = horizon * decay**steps
    weight = (near.sum(1) + earlier)[:, None]
    found = probs
    for _ in range(ROUNDS):
        local = (near.astype(probs.dtype) @ found + np.outer(earlier, before)) / weight
        joint = (LOCAL_SHARE * local + (1 - LOCAL_SHARE) * fresh) * evidence
        found = (joint / joint.sum(1, keepdims=True)).astype(probs.dtype)
    return found
