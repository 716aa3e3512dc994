"""Classes along a chain where each one stays or is drawn afresh: what all steps say together."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

Numbers = npt.NDArray[Any]
Pair = tuple[Numbers, Numbers]


class Smoothed(NamedTuple):
    """What the evidence amounts to, for each chain."""

    probs: Tensor
    """Of each step's class given the evidence of all steps, shape (steps, chains, classes)."""
    last: Tensor
    """Of the last step's class, to go on from, shape (chains, classes)."""
    log_likelihood: Tensor
    """Of all the evidence, in nats, shape (chains,)."""


def smooth(evidence: Tensor, fresh: Tensor, stay: Tensor, before: Tensor) -> Smoothed:
    """The same evidence seen by chains that differ in how long their classes stay.

    At each step a chain keeps its class with probability ``stay`` (chains,), or draws one from
    ``fresh`` (classes,). ``evidence`` (steps, classes) holds positive likelihoods of each step,
    ``before`` (chains, classes) the class probabilities of the step before the first.
    All on a CPU: steps are many and tiny, which NumPy does faster.
    """
    seen, keep = evidence.numpy(), stay[:, None].numpy()
    restart = (1 - keep) * fresh.numpy()
    past, totals = _forward(seen, keep, restart, before.numpy())
    probs = past * _backward(seen, keep, restart, totals)
    probs /= probs.sum(-1, keepdims=True)
    likelihood = np.log(totals[..., 0]).sum(0)
    return Smoothed(*(torch.from_numpy(found) for found in (probs, past[-1], likelihood)))


def _forward(seen: Numbers, keep: Numbers, restart: Numbers, belief: Numbers) -> Pair:
    """Class probabilities at each step given the past, and how likely its evidence was."""
    beliefs = np.empty((len(seen), *restart.shape), seen.dtype)
    totals = np.empty((len(seen), len(restart), 1), seen.dtype)
    for step, likelihood in enumerate(seen):
        joint = (restart + keep * belief) * likelihood
        totals[step] = joint.sum(-1, keepdims=True)
        beliefs[step] = belief = joint / totals[step]
    return beliefs, totals


def _backward(seen: Numbers, keep: Numbers, restart: Numbers, totals: Numbers) -> Numbers:
    """How much likelier each class at each step makes the evidence of later steps."""
    futures = np.ones((len(seen), *restart.shape), seen.dtype)
    for step in range(len(seen) - 1, 0, -1):
        later = futures[step] * seen[step]
        drawn = (restart * later).sum(-1, keepdims=True)
        futures[step - 1] = (drawn + keep * later) / totals[step]
    return futures
