"""Hidden Markov chains whose class stays or is drawn afresh (forward-backward algorithm)."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[Any]


class Filtered(NamedTuple):
    """What the evidence so far amounts to, at each step and for each chain."""

    beliefs: Numbers
    """Class probabilities given the past and the step itself, (steps, ..., chains, classes)."""
    totals: Numbers
    """How likely each step's evidence was given the past, (steps, ..., chains)."""


def filtered(evidence: Numbers, fresh: Numbers, stay: Numbers, before: Numbers) -> Filtered:
    """The forward pass of chains that differ in how long their classes stay.

    At each step a chain keeps its class with probability ``stay`` (chains,), or draws one from
    ``fresh`` (steps, classes). ``evidence`` (steps, ..., 1, classes) holds positive likelihoods
    of each step's class, one or several readings of it; ``before`` (..., chains, classes) are the
    class probabilities before the first step.
    """
    keep = stay[:, None]
    restart = (1 - keep) * fresh[:, None]
    beliefs = np.empty((len(evidence), *before.shape), before.dtype)
    totals = np.empty((len(evidence), *before.shape[:-1]), before.dtype)
    belief = before
    for step, likelihood in enumerate(evidence):
        joint = (restart[step] + keep * belief) * likelihood
        totals[step] = joint.sum(-1)
        beliefs[step] = belief = joint / totals[step, ..., None]
    return Filtered(beliefs, totals)


def smoothed(past: Filtered, evidence: Numbers, fresh: Numbers, stay: Numbers) -> Numbers:
    """Class probabilities given the evidence of all steps, (steps, ..., chains, classes)."""
    keep = stay[:, None]
    restart = (1 - keep) * fresh[:, None]
    future = np.ones_like(past.beliefs[0])
    probs = np.empty_like(past.beliefs)
    for step in range(len(evidence) - 1, -1, -1):
        probs[step] = past.beliefs[step] * future
        later = future * evidence[step]
        drawn = (restart[step] * later).sum(-1, keepdims=True)
        future = (drawn + keep * later) / past.totals[step, ..., None]
    probs /= probs.sum(-1, keepdims=True)
    return probs
