"""Shares of a stream against the samples themselves."""

import itertools

import pytest
import torch

from bench.stores import tiny_spec
from trimtab.bench.result import RunResult
from trimtab.bench.scoring import Scorer
from trimtab.report.metrics import ERROR
from trimtab.reproduce.findings import Findings
from trimtab.reproduce.setup import Setup
from trimtab.reproduce.stream_curves import mean_shares, placed, shares, stream_length

GENERATOR = torch.Generator().manual_seed(0)


def scored(samples: int, seed: int = 0) -> tuple[RunResult, torch.Tensor]:
    """A run of random guesses, and which of them are wrong."""
    logits = torch.randn(samples, 4, generator=GENERATOR)
    labels = torch.randint(4, (samples,), generator=GENERATOR)
    scorer = Scorer(4, ["fog"])
    scorer.update(logits, labels, torch.zeros(samples).long(), logits)
    result = RunResult(tiny_spec(seed=seed), "done", "", 1.0, scores=scorer.scores(0.0))
    return result, logits.argmax(1) != labels


@pytest.mark.parametrize("samples", [210, 603, 4500])
def test_a_share_is_the_error_of_its_samples(samples: int) -> None:
    result, wrong = scored(samples)
    assert result.scores is not None
    bounds = [round(samples * part / 30) for part in range(31)]
    slow = [100 * float(wrong[a:b].double().mean()) for a, b in itertools.pairwise(bounds)]
    assert shares(result.scores, ERROR, 30) == pytest.approx(slow)


def test_runs_are_averaged_share_by_share() -> None:
    (one, first), (two, second) = scored(400), scored(400, seed=1)
    findings = Findings(Setup(), (one, two))
    halves = [(first[:200], second[:200]), (first[200:], second[200:])]
    slow = [50 * float(a.double().mean() + b.double().mean()) for a, b in halves]
    assert mean_shares(findings, ERROR, 2) == pytest.approx(slow)
    assert stream_length(findings) == 400


def test_without_runs_there_are_no_shares() -> None:
    assert mean_shares(Findings(Setup(), ()), ERROR, 4) == []


def test_points_stand_at_the_ends_of_their_shares() -> None:
    assert placed([3.0, 5.0], 100.0) == [(50.0, 3.0), (100.0, 5.0)]
