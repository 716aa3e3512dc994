"""Batch norms that trust a batch by its size and by the classes it shows."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from components.steps import first_memory, step
from trimtab.components.adaptive_norm import (
    EARLY_WEIGHT,
    AdaptiveNorm,
    coverage,
    expected_entropy,
)
from trimtab.core.backbone import Backbone, Prediction, Tensors
from trimtab.core.component import Start, Step
from trimtab.core.norm import BATCH, SOURCE, NormPolicy, tracking

CLASSES = 10


def memory(rule: AdaptiveNorm) -> Tensors:
    backbone = Backbone(nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, CLASSES)))
    start = Start(
        backbone=backbone,
        source={},
        num_classes=CLASSES,
        num_features=None,
        sample_shape=(4,),
        device=torch.device("cpu"),
        forward=lambda *_, **__: pytest.fail("a beginning needs no pass"),
        generator=torch.Generator(),
    )
    return rule.new_memory(start)


def sure_of(classes: Tensor) -> Tensor:
    return 9.0 * torch.eye(CLASSES)[classes]


def drawn(samples: int, classes: int = CLASSES) -> Tensor:
    return torch.randint(classes, (samples,), generator=torch.Generator().manual_seed(0))


class Witness:
    """A network whose predictions with stored statistics are known; counts what passes it."""

    def __init__(self, classes: Tensor) -> None:
        self.classes, self.policies = classes, list[NormPolicy | None]()

    def __call__(
        self, inputs: Tensor, params: object = None, policy: NormPolicy | None = None
    ) -> Prediction:
        self.policies.append(policy)
        return Prediction(sure_of(self.classes[: len(inputs)]), None)


def seen(classes: Tensor, witness: Witness | None = None, policy: NormPolicy = BATCH) -> Step:
    plain = replace(step(sure_of(classes)), policy=policy)
    return plain if witness is None else replace(plain, forward=witness)


def test_the_expected_entropy_is_that_of_many_draws() -> None:
    random = np.random.default_rng(0)
    for samples, classes in ((24, 10), (64, 10), (64, 1000), (5, 2)):
        draws = random.integers(0, classes, (4000, samples))
        entropies = []
        for draw in draws:
            shares = np.unique(draw, return_counts=True)[1] / samples
            entropies.append(-(shares * np.log(shares)).sum())
        assert expected_entropy(samples, classes) == pytest.approx(np.mean(entropies), abs=0.02)


def test_coverage_is_one_for_independent_samples_and_small_for_one_class() -> None:
    assert coverage(drawn(64).float(), CLASSES) == pytest.approx(1, abs=0.1)
    assert coverage(drawn(64, 1000).float(), 1000) == pytest.approx(1, abs=0.1)
    assert coverage(torch.zeros(64), CLASSES) == pytest.approx(
        math.exp(-expected_entropy(64, CLASSES))
    )


def test_late_norms_open_once_a_batch_shows_all_classes() -> None:
    rule = AdaptiveNorm()
    kept = memory(rule)
    closed = rule.norm(BATCH, 64, kept)
    assert (closed.late_share, closed.batch_weight) == (0, pytest.approx(0.99 * EARLY_WEIGHT, 0.01))
    rule.correct(sure_of(drawn(64)), seen(drawn(64)), kept)
    opened = rule.norm(BATCH, 64, kept)
    assert (opened.late_share, opened.batch_weight) == (1, pytest.approx(0.99, 0.01))


def test_late_norms_stay_closed_while_batches_show_one_class() -> None:
    rule = AdaptiveNorm()
    kept = memory(rule)
    for label in (3, 3, 7, 1, 0, 5):
        classes = torch.full((64,), label)
        rule.correct(sure_of(classes), seen(classes), kept)
        assert rule.norm(BATCH, 64, kept).late_share == 0


def test_witnesses_close_the_gate_whatever_batch_statistics_do_to_predictions() -> None:
    # batch statistics scatter the predictions of single-class batches over all classes
    rule = AdaptiveNorm()
    kept = memory(rule)
    rule.correct(sure_of(drawn(64)), seen(drawn(64)), kept)
    assert rule.report(kept)["late_share"] == 1
    witness = Witness(torch.full((64,), 4))
    shares = []
    for _ in range(16):
        rule.correct(sure_of(drawn(64)), seen(drawn(64), witness), kept)
        shares.append(rule.report(kept)["late_share"])
        if not shares[-1]:
            break
    assert shares[-1] == 0
    assert all(policy is not None and policy.late_share == 0 for policy in witness.policies)
    for _ in range(3):  # and it opens again
        rule.correct(sure_of(drawn(64)), seen(drawn(64)), kept)
    assert rule.report(kept)["late_share"] == 1


def test_witnesses_are_called_at_once_where_confidence_falls() -> None:
    rule = AdaptiveNorm()
    kept = memory(rule)
    rule.correct(sure_of(drawn(64)), seen(drawn(64)), kept)
    diverse, single = Witness(drawn(64)), Witness(torch.full((64,), 4))
    for _ in range(9):
        rule.correct(sure_of(drawn(64)), seen(drawn(64), diverse), kept)
    unsure = seen(drawn(64), single)
    unsure = replace(unsure, prediction=Prediction(0.05 * sure_of(drawn(64)), None))
    rule.correct(unsure.logits, unsure, kept)
    assert len(single.policies) == 1
    assert rule.report(kept)["late_share"] == 0


def test_witnesses_are_one_sample_in_sixteen() -> None:
    rule = AdaptiveNorm()
    kept = memory(rule)
    rule.correct(sure_of(drawn(64)), seen(drawn(64)), kept)
    witness = Witness(drawn(64))
    for _ in range(96):
        rule.correct(sure_of(drawn(64)), seen(drawn(64), witness), kept)
    assert 24 * len(witness.policies) <= 96 * 64 / 16


def test_the_fewer_samples_the_more_stored_statistics_count() -> None:
    rule = AdaptiveNorm(stored_samples=6.0)
    kept = memory(rule)
    kept["open"].fill_(1)
    weights = [rule.norm(BATCH, samples, kept).batch_weight for samples in (1, 6, 64)]
    assert weights == [pytest.approx(1 / 37), pytest.approx(0.5), pytest.approx(4096 / 4132)]
    kept_by_the_stream = tracking(64, 1)
    assert rule.norm(kept_by_the_stream, 1, kept).batch_weight == kept_by_the_stream.batch_weight


def test_where_nothing_couples_samples_it_does_nothing() -> None:
    rule = AdaptiveNorm()
    kept = memory(rule)
    assert rule.norm(SOURCE, 64, kept) == SOURCE
    logits = sure_of(drawn(64))
    assert rule.correct(logits, seen(drawn(64), policy=SOURCE), kept) is logits
    assert not kept["counted"]
    without = first_memory(rule, CLASSES)
    assert without == {}
    assert rule.norm(BATCH, 64, without) == BATCH
    assert rule.correct(logits, seen(drawn(64)), without) is logits


@pytest.mark.parametrize("setting", [{"stored_samples": 0.0}, {"witness_every": 0}])
def test_settings_out_of_range_are_refused(setting: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be"):
        AdaptiveNorm(**setting)  # type: ignore[arg-type]
