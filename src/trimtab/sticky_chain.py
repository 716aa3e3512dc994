"""Classes along a chain where each one stays or is drawn afresh: what all steps say together."""

from typing import NamedTuple

import torch
from torch import Tensor


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
    """
    keep = stay[:, None]
    restart = (1 - keep) * fresh
    past, totals = _forward(evidence, keep, restart, before)
    probs = past * _backward(evidence, keep, restart, totals)
    likelihood = torch.stack(totals)[..., 0].log().sum(0)
    return Smoothed(probs / probs.sum(-1, keepdim=True), past[-1], likelihood)


def _forward(
    evidence: Tensor, keep: Tensor, restart: Tensor, belief: Tensor
) -> tuple[Tensor, list[Tensor]]:
    """Class probabilities at each step given the past, and how likely its evidence was."""
    beliefs, totals = [], []
    for likelihood in evidence.unbind(0):
        joint = torch.addcmul(restart, keep, belief) * likelihood
        total = joint.sum(-1, keepdim=True)
        belief = joint / total
        beliefs.append(belief)
        totals.append(total)
    return torch.stack(beliefs), totals


def _backward(evidence: Tensor, keep: Tensor, restart: Tensor, totals: list[Tensor]) -> Tensor:
    """How much likelier each class at each step makes the evidence of later steps."""
    future = torch.ones_like(restart)
    futures = [future]
    for likelihood, total in zip(reversed(evidence[1:].unbind(0)), reversed(totals), strict=False):
        seen = future * likelihood
        drawn = (restart * seen).sum(-1, keepdim=True)
        future = torch.addcmul(drawn, keep, seen) / total
        futures.append(future)
    return torch.stack(futures[::-1])
