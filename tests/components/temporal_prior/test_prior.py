"""Smoothing along time: as far as order calls for it, and never for a model's bias."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from components.steps import first_memory, step
from trimtab.components.temporal_prior import TemporalPrior
from trimtab.core.backbone import Tensors
from trimtab.core.norm import BATCH, NormPolicy


def memory(rule: TemporalPrior, classes: int) -> Tensors:
    return first_memory(rule, classes)


def simulated(
    labels: Tensor, classes: int, sharp: float, favour: float, favourites: int, seed: int = 0
) -> Tensor:
    """Logits of a model that knows labels by ``sharp`` and favours some classes."""
    random = torch.Generator().manual_seed(seed)
    logits = 1.3 * torch.randn(len(labels), classes, generator=random)
    logits[torch.arange(len(labels)), labels] += sharp
    liked = torch.randperm(classes, generator=random)[:favourites]
    logits[:, liked] += favour * torch.rand(len(labels), favourites, generator=random)
    return honest(logits, labels)


def honest(logits: Tensor, labels: Tensor) -> Tensor:
    """The logits at the temperature at which the model is as sure as it is right."""
    right = float((logits.argmax(1) == labels).float().mean())
    scales = torch.linspace(0.1, 5, 99)
    sure = torch.stack([(scale * logits).softmax(1).amax(1).mean() for scale in scales])
    return scales[int((sure - right).abs().argmin())] * logits


def follow(
    rule: TemporalPrior, logits: Tensor, batch: int, kept: Tensors, looks: Tensor | None = None
) -> Tensor:
    found = []
    for first in range(0, len(logits), batch):
        part = logits[first : first + batch]
        seen = step(part)
        if looks is not None:
            seen = replace(seen, inputs=looks[first : first + batch])
        found.append(rule.correct(part, seen, kept))
    return torch.cat(found)


def error(logits: Tensor, labels: Tensor) -> float:
    return float((logits.argmax(1) != labels).float().mean())


def independent(samples: int, classes: int, seed: int = 3) -> Tensor:
    return torch.randint(classes, (samples,), generator=torch.Generator().manual_seed(seed))


def runs(samples: int, classes: int, length: int) -> Tensor:
    return independent(samples, classes).repeat_interleave(length)[:samples]


BIASED = {2: (2.0, 2.0, 1), 10: (2.5, 4.0, 2), 100: (4.5, 5.0, 5), 1000: (5.5, 6.0, 20)}


@pytest.mark.parametrize("classes", BIASED)
@pytest.mark.parametrize("batch", [1, 64])
def test_independent_samples_of_a_heavily_biased_model_are_left_exactly_alone(
    classes: int, batch: int
) -> None:
    # a favourite class of 1,000 looked like one long run to a histogram that learns slowly
    samples = 256 if batch == 1 else 1024
    logits = simulated(independent(samples, classes), classes, *BIASED[classes])
    rule = TemporalPrior()
    assert torch.equal(follow(rule, logits, batch, memory(rule, classes)), logits)


@pytest.mark.parametrize("classes", [10, 1000])
def test_bias_that_changes_with_the_domain_is_left_alone(classes: int) -> None:
    labels, random = independent(1000, classes), torch.Generator().manual_seed(1)
    parts = [
        simulated(labels[first : first + 250], classes, *BIASED[classes], seed=first)
        for first in range(0, 1000, 250)
    ]
    # 250 is no multiple of 64: domains change within batches
    tints = torch.arange(4).repeat_interleave(250)[:, None, None, None]
    inputs = torch.rand(1000, 3, 4, 4, generator=random) * (1 + 9.0 * tints)
    rule, logits = TemporalPrior(), torch.cat(parts)
    assert torch.equal(follow(rule, logits, 64, memory(rule, classes), inputs), logits)


@pytest.mark.parametrize("classes", [10, 1000])
@pytest.mark.parametrize("other", [replace(BATCH, early_share=0), replace(BATCH, late_share=0)])
def test_bias_that_changes_with_the_statistics_of_batch_norms_is_left_alone(
    classes: int, other: NormPolicy
) -> None:
    # all inputs look alike; stored and batch statistics favour other classes
    labels, rule = independent(1024, classes), TemporalPrior()
    kept = memory(rule, classes)
    for number, first in enumerate(range(0, 1024, 256)):
        part = labels[first : first + 256]
        logits = simulated(part, classes, *BIASED[classes], seed=number % 2)
        for batch in logits.split(64):
            seen = replace(step(batch), policy=BATCH if number % 2 else other)
            assert rule.correct(batch, seen, kept) is batch


@pytest.mark.parametrize("classes", [10, 1000])
@pytest.mark.parametrize("length", [3, 30])
def test_runs_of_a_class_are_found_at_any_number_of_classes(classes: int, length: int) -> None:
    labels = runs(1024, classes, length)
    logits = simulated(labels, classes, *BIASED[classes])
    rule = TemporalPrior()
    found = follow(rule, logits, 64, memory(rule, classes))
    assert error(found, labels) < 0.75 * error(logits, labels)


def test_single_samples_profit_from_the_past() -> None:
    labels = runs(512, 10, 30)
    logits = simulated(labels, 10, 2.5, 0.0, 1)
    rule = TemporalPrior()
    assert error(follow(rule, logits, 1, memory(rule, 10)), labels) < 0.6 * error(logits, labels)


def test_a_correlated_stream_is_corrected_within_64_samples() -> None:
    first = []
    for seed in range(8):
        labels = independent(128, 10, seed).repeat_interleave(10)[:128]
        logits = simulated(labels, 10, 2.5, 0.0, 1, seed)
        rule = TemporalPrior()
        kept = memory(rule, 10)
        seen = [not torch.equal(rule.correct(p, step(p), kept), p) for p in logits.split(16)]
        first.append(16 * seen.index(True))
    assert np.mean(first) <= 64


def test_a_few_classes_that_alternate_for_a_while_gain() -> None:
    random = np.random.default_rng(0)
    sets = [random.choice(random.choice(100, 5, replace=False), 200) for _ in range(6)]
    labels = torch.from_numpy(np.concatenate(sets))
    logits = simulated(labels, 100, 4.5, 0.0, 1)
    rule = TemporalPrior()
    found = follow(rule, logits, 64, memory(rule, 100))
    assert error(found, labels) < 0.85 * error(logits, labels)


def test_what_a_class_is_mistaken_for_is_not_taken_for_a_set_of_classes() -> None:
    # a set of classes explains the usual mistakes of a long run too, and leaves them as they are
    labels = torch.arange(10).repeat_interleave(160)
    random = torch.Generator().manual_seed(0)
    usual = (labels[:, None] + torch.tensor([0, 3, 7])) % 10
    said = usual.gather(
        1,
        torch.multinomial(torch.tensor([0.46, 0.32, 0.22]), 1600, True, generator=random)[:, None],
    )
    logits = 2.2 * torch.randn(1600, 10, generator=random)
    logits.scatter_add_(1, said, torch.full((1600, 1), 5.0))
    logits = honest(logits, labels)
    rule = TemporalPrior()
    kept = memory(rule, 10)
    found = follow(rule, logits, 64, kept)
    assert rule.report(kept)["trust_in_runs"] > 0.9
    assert error(found[640:], labels[640:]) < 0.4 * error(logits[640:], labels[640:])


@pytest.mark.parametrize("classes", [10, 100])
def test_correlation_that_ends_or_begins_late_is_noticed_within_300_samples(classes: int) -> None:
    sharp = BIASED[classes][0]
    ordered, mixed = runs(768, classes, 30), independent(768, classes, 9)
    for labels, changes in ((torch.cat([ordered, mixed]), 1), (torch.cat([mixed, ordered]), 0)):
        logits = simulated(labels, classes, sharp, 0.0, 1)
        rule = TemporalPrior()
        found = follow(rule, logits, 64, memory(rule, classes))
        late, said = labels[-468:], found[-468:]
        if changes:
            assert error(said, late) <= error(logits[-468:], late) + 0.01
        else:
            assert error(said, late) < 0.3 * error(logits[-468:], late)


@pytest.mark.parametrize("classes", [10, 100])
def test_runs_that_end_where_another_domain_begins_are_not_continued_by_its_bias(
    classes: int,
) -> None:
    # the mean prediction of earlier domains made what a model favours in new ones look like runs
    labels = torch.cat([runs(640, classes, 64), independent(640, classes)])
    parts = [
        simulated(labels[first : first + 160], classes, *BIASED[classes], seed=first)
        for first in range(0, 1280, 160)
    ]
    tints = torch.tensor([0, 1, 2, 3]).repeat_interleave(160).repeat(2)[:, None, None, None]
    inputs = torch.rand(1280, 3, 4, 4, generator=torch.Generator().manual_seed(1))
    logits, rule = torch.cat(parts), TemporalPrior()
    found = follow(rule, logits, 64, memory(rule, classes), inputs * (1 + 9.0 * tints))
    after = slice(640, 940)
    assert error(found[:640], labels[:640]) < 0.8 * error(logits[:640], labels[:640])
    assert error(found[after], labels[after]) < error(logits[after], labels[after]) + 0.05


def test_after_2000_samples_of_one_class_all_others_are_back_within_300() -> None:
    labels = torch.cat([torch.full((2000,), 4), independent(600, 10)])
    logits = simulated(labels, 10, 2.5, 0.0, 1)
    rule = TemporalPrior()
    found = follow(rule, logits, 64, memory(rule, 10))
    assert error(found[:2000], labels[:2000]) <= error(logits[:2000], labels[:2000]) + 0.003
    # what was predicted for long is taken for bias, which costs a little for a while
    assert error(found[-300:], labels[-300:]) <= error(logits[-300:], labels[-300:]) + 0.05


def test_a_run_that_outlasts_all_others_is_not_taken_for_bias() -> None:
    labels = torch.arange(10).repeat(2).repeat_interleave(300)
    labels = torch.cat([labels, torch.full((12000,), 3)])
    logits = simulated(labels, 10, sharp=2.0, favour=1.0, favourites=2)
    rule = TemporalPrior()
    found = follow(rule, logits, 200, memory(rule, 10))
    assert error(logits[-4000:], labels[-4000:]) > 0.3
    assert error(found[-4000:], labels[-4000:]) < 0.05


def test_where_a_sure_model_sees_a_class_most_of_the_time_the_others_stay() -> None:
    draws = torch.Generator().manual_seed(4)
    often = torch.rand(6000, generator=draws) < 0.6
    mostly = torch.where(often, 7, torch.randint(10, (6000,), generator=draws))
    labels = torch.cat([torch.arange(10).repeat_interleave(300), mostly])
    logits = simulated(labels, 10, sharp=4.5, favour=0.0, favourites=1)
    rule = TemporalPrior()
    found = follow(rule, logits, 64, memory(rule, 10))
    assert error(logits[-6000:], labels[-6000:]) < 0.2
    assert error(found[-6000:], labels[-6000:]) < error(logits[-6000:], labels[-6000:]) + 0.06


@pytest.mark.parametrize("classes", [2, 10])
def test_a_model_that_is_never_in_doubt_is_left_as_it_is_and_finite(classes: int) -> None:
    runs = torch.arange(6).remainder(classes).repeat_interleave(200)
    labels = torch.cat([runs, torch.full((1000,), 1), independent(600, classes)])
    logits = 1000 * torch.nn.functional.one_hot(labels, classes).float()
    rule = TemporalPrior()
    kept = memory(rule, classes)
    found = follow(rule, logits, 64, kept)
    assert found.isfinite().all()
    assert all(value.isfinite().all() for value in kept.values())
    assert error(found, labels) == 0


def test_a_temperature_that_rises_is_no_run_of_a_class_that_nobody_predicts() -> None:
    # of a sure model all other classes are so rare that they are several times as likely after it
    labels = torch.full((512,), 4)
    logits = 0.3 * torch.randn(512, 10, generator=torch.Generator().manual_seed(0))
    logits[:, 4] += 6
    softened = torch.cat([logits[:128], logits[128:] / 1.3])
    rule = TemporalPrior()
    found = follow(rule, softened, 64, memory(rule, 10))
    assert error(found, labels) == 0


def test_long_batches_are_taken_in_blocks_and_their_output_is_finite() -> None:
    labels = runs(600, 3000, 6)
    logits = simulated(labels, 3000, 6.0, 0.0, 1)
    rule = TemporalPrior()
    found = rule.correct(logits, step(logits), memory(rule, 3000))
    assert found.isfinite().all()
    assert error(found, labels) < 0.5 * error(logits, labels)


def test_its_memory_does_not_grow() -> None:
    rule = TemporalPrior()
    kept = memory(rule, 10)
    sizes = {name: tensor.shape for name, tensor in kept.items()}
    follow(rule, simulated(runs(400, 10, 30), 10, 2.5, 0.0, 1), 50, kept)
    assert {name: tensor.shape for name, tensor in kept.items()} == sizes


def test_it_says_what_it_believes() -> None:
    rule = TemporalPrior()
    kept = memory(rule, 10)
    assert rule.report(kept)["trust"] < 0.05
    follow(rule, simulated(runs(640, 10, 30), 10, 2.5, 0.0, 1), 64, kept)
    believed = rule.report(kept)
    assert believed["trust"] > 0.9
    assert believed["trust_in_runs"] > believed["trust_in_sets"]
    assert believed["stay_probability"] > 0.8


@pytest.mark.parametrize("setting", [{"caution": -1.0}, {"horizon_samples": 0.0}])
def test_settings_out_of_range_are_refused(setting: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be"):
        TemporalPrior(**setting)
