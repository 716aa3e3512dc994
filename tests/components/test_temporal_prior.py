"""Smoothing along time, as far as the stream shows correlation."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from components.steps import first_memory, step
from trimtab.components.temporal_prior import STAYS, TemporalPrior, evidence_of
from trimtab.core.backbone import Tensors
from trimtab.core.norm import BATCH, SOURCE, tracking
from trimtab.sticky_chain import smooth

CLASSES = 5


def memory(rule: TemporalPrior) -> Tensors:
    return first_memory(rule, CLASSES)


def logits_of(labels: Tensor, bias: float = 0.0, seed: int = 0) -> Tensor:
    """What a model that is right on about two of three samples might say."""
    noise = torch.randn(len(labels), CLASSES, generator=torch.Generator().manual_seed(seed))
    logits = 1.5 * torch.eye(CLASSES)[labels] + noise
    logits[:, 0] += bias
    return logits


def follow(rule: TemporalPrior, logits: Tensor, batch: int, kept: Tensors) -> Tensor:
    return torch.cat([rule.correct(part, step(part), kept) for part in logits.split(batch)])


def error(logits: Tensor, labels: Tensor) -> float:
    return float((logits.argmax(1) != labels).float().mean())


RUNS = torch.arange(30).mul(3).remainder(CLASSES).repeat_interleave(40)
SHUFFLED = RUNS[torch.randperm(len(RUNS), generator=torch.Generator().manual_seed(1))]


@pytest.mark.parametrize(("batch", "share"), [(1, 0.6), (16, 0.35), (64, 0.35)])
def test_runs_of_a_class_are_found_and_used(batch: int, share: float) -> None:
    rule, logits = TemporalPrior(), logits_of(RUNS)
    kept = memory(rule)
    corrected = follow(rule, logits, batch, kept)
    assert error(corrected, RUNS) < share * error(logits, RUNS)


@pytest.mark.parametrize("bias", [0.0, 1.0])
@pytest.mark.parametrize("batch", [1, 64])
def test_a_shuffled_stream_is_left_alone_even_by_a_biased_model(batch: int, bias: float) -> None:
    # at the very start a favourite class and a run of it look the same
    rule, logits = TemporalPrior(), logits_of(SHUFFLED, bias)
    found = follow(rule, logits, batch, memory(rule))
    assert torch.equal(found[256:], logits[256:])
    assert error(found, SHUFFLED) < error(logits, SHUFFLED) + 0.01


def test_chains_count_by_their_likelihood_and_short_ones_change_nothing() -> None:
    rule, logits = TemporalPrior(caution=2.0), logits_of(RUNS[:64])
    uniform, stays = torch.full((CLASSES,), 1 / CLASSES), torch.tensor(STAYS)
    evidence = evidence_of(logits.log_softmax(1), uniform)
    chains = smooth(evidence, uniform, stays, uniform.repeat(len(STAYS), 1))
    # 64 samples are half of what it takes to know a model's favourites: twice the caution
    odds = chains.log_likelihood.exp() * torch.where(stays > 0.7, math.exp(-4), 1.0)
    expected = torch.zeros(64, CLASSES)
    for number, stay in enumerate(STAYS):
        said = chains.probs[:, number] if stay > 0.7 else logits.softmax(1)
        expected += odds[number] / odds.sum() * said
    found = rule.correct(logits, step(logits), memory(rule))
    torch.testing.assert_close(found.softmax(1), expected)


def test_likelihoods_are_forgotten_slowly() -> None:
    rule, logits = TemporalPrior(memory=100), logits_of(RUNS[:60])
    kept = memory(rule)
    kept["log_likelihoods"].copy_(torch.linspace(-40, 0, len(STAYS)))
    before = kept["log_likelihoods"].clone()
    fresh = memory(rule)
    rule.correct(logits, step(logits), kept)
    rule.correct(logits, step(logits), fresh)
    change = kept["log_likelihoods"] - fresh["log_likelihoods"] - before * 0.99**60
    torch.testing.assert_close(change, change[:1].expand_as(change), atol=1e-4, rtol=0)


def test_the_histogram_is_a_running_mean_over_its_memory() -> None:
    rule, logits = TemporalPrior(samples_per_class=8), logits_of(SHUFFLED[:90])
    kept = memory(rule)
    follow(rule, logits, 30, kept)
    mean, count = torch.full((CLASSES,), 1 / CLASSES), 10.0
    for part in logits.softmax(1).split(30):
        mean = (count * mean + part.sum(0)) / (count + 30)
        count = min(count + 30, 40.0)
    torch.testing.assert_close(kept["histogram"], mean)


@pytest.mark.parametrize(("brighter", "begins_anew"), [(0.0, False), (5.0, True)])
def test_the_histogram_begins_anew_where_inputs_look_different(
    brighter: float, begins_anew: bool
) -> None:
    rule = TemporalPrior()
    kept = memory(rule)
    logits = logits_of(SHUFFLED[:128])
    inputs = torch.randn(128, 3, 4, 4, generator=torch.Generator().manual_seed(2))
    inputs[64:] += brighter
    for part, seen in zip(logits.split(64), inputs.split(64), strict=True):
        rule.correct(part, replace(step(part), inputs=seen), kept)
    counted = logits[64:] if begins_anew else logits
    mean = (10 / CLASSES + counted.softmax(1).sum(0)) / (10 + len(counted))
    torch.testing.assert_close(kept["histogram"], mean)
    assert float(kept["seen"]) == 128


def test_runs_that_are_plain_explain_why_inputs_look_different() -> None:
    rule = TemporalPrior()
    kept = memory(rule)
    follow(rule, logits_of(RUNS), 64, kept)
    counted = float(kept["counted"])
    part = logits_of(RUNS[:64])
    for shift in (0.0, 9.0):
        inputs = shift + torch.randn(64, 3, 4, 4, generator=torch.Generator().manual_seed(2))
        rule.correct(part, replace(step(part), inputs=inputs), kept)
    assert float(kept["counted"]) == counted + 128


def test_across_batches_only_the_past_counts() -> None:
    rule, logits = TemporalPrior(), logits_of(RUNS[:200])
    changed = logits.clone()
    changed[150:] = changed[150:].flip(1)
    left, right = (follow(rule, stream, 50, memory(rule)) for stream in (logits, changed))
    assert torch.equal(left[:150], right[:150])


def test_late_batch_norms_trust_a_batch_as_far_as_samples_are_independent() -> None:
    rule, shares = TemporalPrior(stored_samples=6), []
    for labels in (SHUFFLED, RUNS):
        kept = memory(rule)
        assert rule.norm(BATCH, 64, kept).late_share == 0  # nothing is known yet
        follow(rule, logits_of(labels), 64, kept)
        shares.append(rule.norm(BATCH, 64, kept).late_share)
        assert rule.norm(SOURCE, 64, kept) == SOURCE
    assert shares[1] < 0.1 < 0.9 < shares[0] < 1


def test_batches_are_weighed_against_stored_samples() -> None:
    rule = TemporalPrior(stored_samples=6)
    kept = memory(rule)
    assert rule.norm(BATCH, 1, kept).batch_weight == 1 / 37
    assert rule.norm(BATCH, 6, kept).batch_weight == 1 / 2
    assert rule.norm(BATCH, 18, kept).batch_weight == 9 / 10
    follows = tracking(64, 1)
    found = rule.norm(follows, 1, kept)
    assert (found.batch_weight, found.keep_weight) == (follows.batch_weight, follows.keep_weight)


def test_by_itself_it_leaves_batch_norms_to_the_method() -> None:
    rule = TemporalPrior()
    assert rule.norm(BATCH, 64, memory(rule)) == BATCH


def test_certain_and_missing_classes_leave_everything_finite() -> None:
    rule = TemporalPrior()
    kept = memory(rule)
    certain = 1e4 * torch.eye(CLASSES)[torch.zeros(64, dtype=torch.long)]
    for _ in range(60):
        assert rule.correct(certain, step(certain), kept).isfinite().all()
    other = certain.roll(1, 1)
    assert rule.correct(other, step(other), kept).argmax(1).eq(1).all()
    assert all(value.isfinite().all() for value in kept.values())


@pytest.mark.parametrize(
    "bad",
    [{"min_stay": 1.0}, {"caution": -1.0}, {"memory": 0.0}, {"stored_samples": 0.0}],
)
def test_settings_are_checked(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must"):
        TemporalPrior(**bad)
