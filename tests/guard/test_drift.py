"""A slow collapse is found along a stream whose classes come in runs, and runs alone are not."""

from typing import Any

import pytest
import torch
from torch import Tensor

from trimtab.core.guard import betting
from trimtab.core.guard.look import Look
from trimtab.core.guard.settings import Guard, new_evidence
from trimtab.core.guard.watch import Watch

CLASSES, RUN, GLANCE = 10, 40, 8
"""Samples of a run that are compared, and of a glance."""


def unused(*_: Any) -> Any:
    raise AssertionError("no pass is made")


WATCH = Watch(Guard(), attempt=unused)


def logits(classes: Tensor) -> Tensor:
    return 5 * torch.nn.functional.one_hot(classes, CLASSES).float()


def said(truth: Tensor, right: float, random: torch.Generator) -> Tensor:
    """The truth of this share of samples, and of the others any class."""
    kept = torch.rand(len(truth), generator=random) < right
    return torch.where(kept, truth, torch.randint(CLASSES, (len(truth),), generator=random))


def evidence_after(samples: int, sinking: float, seed: int, may_drift: bool = True) -> float:
    """The most evidence of harm along glances at a stream of runs, in nats.

    Args:
        sinking: Share of samples that the adapted model gives two classes, whatever they show.
    """
    random = torch.Generator().manual_seed(seed)
    rounds = samples // (RUN * CLASSES)
    order = torch.cat([torch.randperm(CLASSES, generator=random) for _ in range(rounds)])
    truth = order.repeat_interleave(RUN)
    source = said(truth, 0.6, random)
    own = torch.where(torch.rand(samples, generator=random) < 0.2, truth, source)
    sunk = torch.rand(samples, generator=random) < sinking
    own = torch.where(sunk, 4 + torch.randint(2, (samples,), generator=random), own)
    evidence = new_evidence(WATCH.guard, only_corrects=False, may_drift=may_drift)
    most = 0.0
    for ours, theirs in zip(own.split(GLANCE), source.split(GLANCE), strict=True):
        look = Look(logits(ours), logits(theirs), may_drift=may_drift)
        evidence = WATCH.weighed(evidence, look, cost=0)
        most = max(most, betting.evidence(evidence["wealth"]))
    return most


@pytest.mark.parametrize("seed", range(4))
def test_a_collapse_that_runs_hide_raises_an_alarm(seed: int) -> None:
    assert evidence_after(1200, 0.3, seed) >= WATCH.guard.alarm


@pytest.mark.parametrize("seed", range(4))
def test_runs_alone_are_no_evidence(seed: int) -> None:
    assert evidence_after(4000, 0.0, seed) < 2


def test_classes_that_a_method_favours_on_purpose_are_not_held_against_it() -> None:
    assert evidence_after(1200, 0.3, 0, may_drift=False) < 2
