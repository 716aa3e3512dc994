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
    kappa,
)
from trimtab.core.backbone import Backbone, Tensors
from trimtab.core.component import Start
from trimtab.core.norm import BATCH, SOURCE, NormPolicy, tracking
from trimtab.core.prediction import Prediction

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


class Network:
    """A network whose further passes are known, with stored and with batch statistics."""

    def __init__(self, stored: Tensor, batch: Tensor | None = None) -> None:
        self.stored, self.batch = stored, stored if batch is None else batch
        self.policies: list[NormPolicy] = []
        self.samples = 0

    def __call__(
        self, inputs: Tensor, params: object = None, policy: NormPolicy | None = None
    ) -> Prediction:
        assert policy is not None
        self.policies.append(policy)
        self.samples += len(inputs)
        logits = self.batch if policy.late_share else self.stored
        return Prediction(logits[: len(inputs)], None)


def give(rule: AdaptiveNorm, kept: Tensors, logits: Tensor, network: Network) -> None:
    """A batch whose predictions are ``logits``."""
    seen = replace(step(logits), forward=network, policy=rule.norm(BATCH, len(logits), kept))
    assert rule.correct(logits, seen, kept) is logits


ALL, ONE = sure_of(drawn(64)), sure_of(torch.full((64,), 4))


def opened(rule: AdaptiveNorm) -> Tensors:
    """The memory after a batch of all classes."""
    kept = memory(rule)
    give(rule, kept, ALL, Network(ALL))
    assert rule.report(kept)["late_share"] == 1
    return kept


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
    closed = rule.norm(BATCH, 64, memory(rule))
    assert (closed.late_share, closed.batch_weight) == (0, pytest.approx(0.99 * EARLY_WEIGHT, 0.01))
    open_ = rule.norm(BATCH, 64, opened(rule))
    assert (open_.late_share, open_.batch_weight) == (1, pytest.approx(0.99, 0.01))


def test_late_norms_stay_closed_while_batches_show_one_class() -> None:
    rule = AdaptiveNorm()
    kept = memory(rule)
    for label in (3, 3, 7, 1, 0, 5):
        classes = sure_of(torch.full((64,), label))
        give(rule, kept, classes, Network(classes, batch=ALL))
        assert rule.norm(BATCH, 64, kept).late_share == 0


def test_late_norms_stay_closed_where_batch_statistics_make_predictions_unsure() -> None:
    rule = AdaptiveNorm()
    kept = memory(rule)
    few = sure_of(drawn(64, 7)) / 2
    give(rule, kept, few, Network(few, batch=0.4 * few))
    assert rule.report(kept)["entropy_ratio"] > 1
    assert rule.report(kept)["late_share"] == 0
    sharper = memory(rule)
    give(rule, sharper, few, Network(few, batch=3 * few))  # a biased model that is made surer
    assert rule.report(sharper)["late_share"] == 1


def test_the_gate_closes_whatever_batch_statistics_do_to_predictions_and_opens_again() -> None:
    # batch statistics scatter the predictions of single-class batches over all classes
    rule = AdaptiveNorm()
    kept = opened(rule)
    network = Network(stored=ONE, batch=ALL)
    shares = []
    for _ in range(24):
        give(rule, kept, ALL, network)
        shares.append(rule.report(kept)["late_share"])
        if not shares[-1]:
            break
    assert shares[-1] == 0
    assert all(policy.late_share == 0 for policy in network.policies)
    for _ in range(3):
        give(rule, kept, ALL, Network(ALL))
    assert rule.report(kept)["late_share"] == 1


def test_late_norms_stay_closed_where_batch_statistics_say_something_else() -> None:
    # one class, which a weak network takes for five: as many as a biased model shows of ten
    few = drawn(64, 5)
    scattered = sure_of(few[torch.randperm(64, generator=torch.Generator().manual_seed(1))])
    rule = AdaptiveNorm()
    kept = memory(rule)
    for _ in range(12):
        give(rule, kept, sure_of(few), Network(sure_of(few), batch=scattered))
        assert rule.report(kept)["late_share"] == 0
    assert rule.report(kept)["agreement"] < 0.3
    agreed = memory(rule)
    give(rule, agreed, sure_of(few), Network(sure_of(few)))
    assert rule.report(agreed)["late_share"] == 1


def test_witnesses_of_a_closed_gate_see_batch_statistics_at_their_whole_weight() -> None:
    rule = AdaptiveNorm()
    kept, network = memory(rule), Network(ONE)
    give(rule, kept, ONE, network)
    assert rule.report(kept)["late_share"] == 0
    kept["open"].fill_(1)
    assert network.policies == [rule.norm(BATCH, 64, kept)]


def test_a_gate_that_has_just_opened_is_looked_at_again_with_the_next_batch() -> None:
    rule = AdaptiveNorm()
    kept, network = opened(rule), Network(ALL)
    give(rule, kept, ALL, network)
    give(rule, kept, ALL, network)
    assert [policy.late_share for policy in network.policies] == [0]


def test_kappa_is_agreement_beyond_chance() -> None:
    classes = torch.tensor([0, 0, 1, 1])
    assert kappa(classes, classes) == pytest.approx(1)
    assert kappa(classes, torch.tensor([0, 1, 0, 1])) == pytest.approx(0)
    assert kappa(torch.zeros(4, dtype=torch.long), torch.zeros(4, dtype=torch.long)) == 0


def test_witnesses_are_called_at_once_where_confidence_falls() -> None:
    rule = AdaptiveNorm()
    kept = opened(rule)
    for _ in range(9):
        give(rule, kept, ALL, Network(ALL))
    single = Network(ONE)
    give(rule, kept, 0.05 * ALL, single)
    assert len(single.policies) == 1
    assert rule.report(kept)["late_share"] == 0


@pytest.mark.parametrize("logits", [ALL, ONE])
def test_one_sample_in_sixteen_passes_again_whether_the_gate_is_open_or_closed(
    logits: Tensor,
) -> None:
    rule = AdaptiveNorm()
    kept, network = memory(rule), Network(logits)
    give(rule, kept, logits, network)
    first = network.samples
    for _ in range(96):
        give(rule, kept, logits, network)
    assert first == 64
    assert 0.5 < 16 * (network.samples - first) / (96 * 64) <= 1.01


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
    assert rule.correct(logits, replace(step(logits), policy=SOURCE), kept) is logits
    assert not kept["counted"]
    without = first_memory(rule, CLASSES)
    assert without == {}
    assert rule.norm(BATCH, 64, without) == BATCH
    assert rule.correct(logits, step(logits), without) is logits


@pytest.mark.parametrize("setting", [{"stored_samples": 0.0}, {"witness_every": 0}])
def test_settings_out_of_range_are_refused(setting: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be"):
        AdaptiveNorm(**setting)  # type: ignore[arg-type]
