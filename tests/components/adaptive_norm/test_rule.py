"""Batch norms that trust a batch by its size and by the classes it shows."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from components.steps import first_memory, step
from trimtab.components.adaptive_norm import AdaptiveNorm
from trimtab.components.adaptive_norm.early import EARLY_SHARE
from trimtab.components.adaptive_norm.rule import SECOND_LOOKS
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


def give(
    rule: AdaptiveNorm,
    kept: Tensors,
    logits: Tensor,
    network: Network,
    corrected: Tensor | None = None,
    scale: float = 1.0,
    inputs: Tensor | None = None,
) -> Tensor:
    """A batch whose predictions are ``logits``, and ``corrected`` by rules before this one."""
    seen = replace(step(logits), forward=network, policy=rule.norm(BATCH, len(logits), kept))
    if inputs is None:
        inputs = torch.rand(len(logits), 3, 8, 8, generator=torch.Generator().manual_seed(2))
    seen = replace(seen, inputs=scale * inputs)
    shown = logits if corrected is None else corrected
    was_open = is_open(rule, kept)
    found = rule.correct(shown, seen, kept)
    assert (found is shown) or is_open(rule, kept) != was_open
    return found


def is_open(rule: AdaptiveNorm, kept: Tensors) -> bool:
    return rule.norm(BATCH, 64, kept).late_share == 1


NOISE = torch.randn(64, CLASSES, generator=torch.Generator().manual_seed(5))
ALL, ONE = NOISE + sure_of(drawn(64)), NOISE + sure_of(torch.full((64,), 4))
SCATTERED = NOISE.flip(0)
"""What batch statistics make of one class: predictions of all classes, none of which stands out."""
WEAK = NOISE + 2.5 * torch.eye(CLASSES)[drawn(64)]
"""A weak network's predictions, of all classes, none of which stands out far."""


VEILED = NOISE + 3.0 * torch.eye(CLASSES)[drawn(64)]
"""Predictions of all classes which stand out about as far as a weak network's."""

HAZY = NOISE + 2.5 * torch.eye(CLASSES)[4]
"""Predictions of stored statistics under a veil: one class of everything, none too sure of it."""

NOISY = torch.rand(64, 3, 8, 8, generator=torch.Generator().manual_seed(2))
BLURRED = nn.functional.avg_pool2d(NOISY, 5, stride=1, padding=2)
SEVERAL = torch.where(torch.arange(64).view(-1, 1, 1, 1) % 2 == 0, NOISY, BLURRED)
"""Inputs of two domains at once."""


def opened(rule: AdaptiveNorm) -> Tensors:
    """The memory after a batch of all classes."""
    kept = memory(rule)
    give(rule, kept, ALL, Network(ALL))
    assert rule.report(kept)["late_share"] == 1
    return kept


def test_late_norms_open_once_a_batch_shows_all_classes_without_witnesses() -> None:
    rule = AdaptiveNorm()
    closed = rule.norm(BATCH, 64, memory(rule))
    assert closed.weights(late=True)[0] == 0
    assert closed.weights(late=False)[0] == pytest.approx(0.99 * EARLY_SHARE, 0.01)
    open_ = rule.norm(BATCH, 64, opened(rule))
    assert open_.weights(late=True) == open_.weights(late=False)
    assert open_.weights(late=True)[0] == pytest.approx(0.99, 0.01)
    kept, network = memory(rule), Network(ALL)
    for _ in range(20):
        give(rule, kept, ALL, network)
    assert [policy.late_share for policy in network.policies] == [1]  # that batch itself


def test_late_norms_stay_closed_while_batches_show_one_class() -> None:
    rule = AdaptiveNorm()
    kept = memory(rule)
    for label in (3, 3, 7, 1, 0, 5):
        give(rule, kept, NOISE + sure_of(torch.full((64,), label)), Network(ONE, batch=SCATTERED))
        assert not is_open(rule, kept)


def test_no_norm_trusts_batches_of_one_class_from_several_domains_at_once() -> None:
    # noise and blur in one batch: its statistics are those of no domain
    rule = AdaptiveNorm()
    kept, network = memory(rule), Network(ONE, batch=SCATTERED)

    def shares_after(*batches: Tensor) -> list[float]:
        found = []
        for inputs in batches:
            give(rule, kept, ONE, network, inputs=inputs)
            found.append(rule.norm(BATCH, 64, kept).early_share)
        return found

    some = EARLY_SHARE
    assert shares_after(NOISY, SEVERAL, BLURRED) == [some] * 3  # one begins within a batch
    assert shares_after(SEVERAL, SEVERAL, SEVERAL) == [some, 0, 0]
    assert shares_after(NOISY, NOISY) == [some, some]
    assert shares_after(SEVERAL[:8], SEVERAL[8:16]) == [some] * 2  # too few to tell
    assert not is_open(rule, kept)
    kept = memory(rule)
    assert shares_after(SEVERAL, SEVERAL, NOISY) == [0, 0, some]  # a stream that begins so


def test_mixed_domains_do_not_keep_the_gate_from_opening() -> None:
    rule = AdaptiveNorm()
    kept = memory(rule)
    for _ in range(3):
        give(rule, kept, ONE, Network(ONE, batch=SCATTERED), inputs=SEVERAL)
    assert rule.norm(BATCH, 64, kept).weights(late=False)[0] == 0
    give(rule, kept, ALL, Network(ALL), inputs=SEVERAL)
    assert rule.norm(BATCH, 64, kept).weights(late=False)[0] == pytest.approx(0.99, 0.01)
    assert is_open(rule, kept)


def test_a_domain_in_which_stored_statistics_see_one_class_opens_the_gate_and_leaves_it_open() -> (
    None
):
    rule = AdaptiveNorm()
    kept, network = memory(rule), Network(ONE, batch=ALL)
    give(rule, kept, ONE, network)
    assert [policy.late_share for policy in network.policies] == [1, 1]
    assert is_open(rule, kept)
    for _ in range(20):
        give(rule, kept, ALL, network)
        assert is_open(rule, kept)
    assert len(network.policies) == 2


def test_a_few_prominent_classes_close_the_gate_where_stored_statistics_are_surer_of_them() -> None:
    rule, few = AdaptiveNorm(), drawn(64, classes=6)
    surer, less_sure = 0.3 * NOISE + sure_of(few), 0.6 * NOISE + 0.5 * sure_of(few)
    kept, network = opened(rule), Network(stored=surer, batch=less_sure)
    give(rule, kept, less_sure, network)
    assert rule.report(kept)["prominence"] > 1.28
    assert not is_open(rule, kept)
    for _ in range(40):
        give(rule, kept, surer, network)
        assert not is_open(rule, kept)
    give(rule, kept, ALL, Network(ALL))
    assert is_open(rule, kept)


def test_a_few_prominent_classes_leave_the_gate_open_where_stored_statistics_see_others() -> None:
    # a domain under which stored statistics say one class of everything
    rule, few = AdaptiveNorm(), 0.6 * NOISE + 0.5 * sure_of(drawn(64, classes=6))
    kept, network = opened(rule), Network(stored=0.5 * ONE, batch=few)
    for _ in range(20):
        give(rule, kept, few, network)
        assert is_open(rule, kept)


def test_a_veil_under_which_stored_statistics_see_one_class_opens_the_gate_for_a_weak_network() -> (
    None
):
    rule = AdaptiveNorm()
    kept, network = memory(rule), Network(HAZY, batch=VEILED)
    give(rule, kept, HAZY, network)
    assert is_open(rule, kept)
    for _ in range(20):
        give(rule, kept, VEILED, network)
        assert is_open(rule, kept)


def test_one_batch_of_one_class_closes_the_gate_and_one_of_all_opens_it_again() -> None:
    # batch statistics scatter the predictions of single-class batches over all classes
    rule = AdaptiveNorm()
    kept, network = opened(rule), Network(stored=ONE, batch=SCATTERED)
    give(rule, kept, SCATTERED, network)
    assert [policy.late_share for policy in network.policies] == [0, 0, 0]  # few, all, again
    assert not is_open(rule, kept)
    give(rule, kept, ALL, Network(ALL))
    assert is_open(rule, kept)


def test_the_batch_that_moves_the_gate_is_predicted_again_at_the_temperature_of_earlier_rules() -> (
    None
):
    rule = AdaptiveNorm()
    kept = opened(rule)
    found = give(rule, kept, SCATTERED, Network(stored=ONE), corrected=SCATTERED / 2.5)
    assert not is_open(rule, kept)
    assert torch.allclose(found, ONE / 2.5, atol=1e-5)


def test_after_closing_it_looks_again_at_once_and_only_for_a_while() -> None:
    # the border of two domains within a batch: neither stored nor batch statistics show classes
    rule = AdaptiveNorm()
    kept = opened(rule)
    give(rule, kept, SCATTERED, Network(ONE))
    assert not is_open(rule, kept)
    network = Network(ONE, batch=SCATTERED)
    for _ in range(5):
        give(rule, kept, ONE, network)
    assert 1 <= len(network.policies) <= SECOND_LOOKS
    again = opened(rule)
    give(rule, again, SCATTERED, Network(ONE))
    give(rule, again, ONE, Network(ONE, batch=ALL))
    assert is_open(rule, again)


def test_a_batch_that_looks_different_does_not_close_the_gate_and_the_next_does() -> None:
    rule = AdaptiveNorm()
    kept, network = opened(rule), Network(ONE, batch=SCATTERED)
    give(rule, kept, SCATTERED, network, scale=9.0)
    assert is_open(rule, kept)
    give(rule, kept, SCATTERED, network, scale=0.1)
    assert not is_open(rule, kept)


def test_a_closed_gate_looks_at_once_where_inputs_look_different() -> None:
    rule = AdaptiveNorm()
    kept = memory(rule)
    for _ in range(3):
        give(rule, kept, ONE, Network(ONE, batch=SCATTERED))
    give(rule, kept, ONE, Network(ONE, batch=ALL))
    assert not is_open(rule, kept)
    give(rule, kept, ONE, Network(ONE, batch=ALL), scale=9.0)
    assert is_open(rule, kept)


def test_where_no_class_is_prominent_agreement_of_many_classes_opens_and_keeps_it_open() -> None:
    rule = AdaptiveNorm()
    kept = memory(rule)
    give(rule, kept, WEAK, Network(WEAK))
    assert rule.report(kept)["prominence"] < 1.23
    assert is_open(rule, kept)
    for _ in range(3):
        give(rule, kept, WEAK, Network(WEAK))
        assert is_open(rule, kept)


def test_late_norms_stay_closed_where_no_class_stands_out_with_batch_statistics() -> None:
    rule, half = AdaptiveNorm(), NOISE + 2.5 * torch.eye(CLASSES)[drawn(64, classes=5)]
    kept = memory(rule)
    for _ in range(12):
        give(rule, kept, half, Network(half, batch=SCATTERED))
        assert not is_open(rule, kept)


def test_stored_statistics_that_plainly_show_all_classes_open_the_gate_without_a_witness() -> None:
    # of a weak network hardly any class stands out, and after closing no witness can be afforded
    rule = AdaptiveNorm()
    kept, network = memory(rule), Network(WEAK)
    kept["credit"].fill_(-200.0)
    give(rule, kept, WEAK, network)
    assert rule.report(kept)["prominence"] < 1.23
    assert is_open(rule, kept)
    assert len(network.policies) == 1  # that batch itself


@pytest.mark.parametrize("samples", [16, 64])
def test_a_gate_does_not_close_where_it_would_open_again_at_once(samples: int) -> None:
    # of a thousand classes hardly any stands out of a batch
    rule, stored = AdaptiveNorm(), WEAK[:samples]
    kept = opened(rule)
    for _ in range(12):
        given = SCATTERED[:samples]
        give(rule, kept, given, Network(stored=stored, batch=given))
        assert is_open(rule, kept)


def test_batch_statistics_that_are_the_surer_open_the_gate_and_less_sure_ones_close_it() -> None:
    half = drawn(64, classes=6)
    weak, surer = (NOISE + height * torch.eye(CLASSES)[half] for height in (2.0, 3.5))
    rule = AdaptiveNorm()
    kept = memory(rule)
    give(rule, kept, weak, Network(stored=weak, batch=surer))
    assert is_open(rule, kept)
    kept = opened(rule)
    for _ in range(2):
        give(rule, kept, weak, Network(stored=surer, batch=weak))
    assert not is_open(rule, kept)


def test_learned_scales_of_logits_do_not_move_the_gate() -> None:
    # adapted weights may be much surer with stored statistics than they were, and know no more
    rule = AdaptiveNorm()
    kept, network = opened(rule), Network(stored=9 * WEAK, batch=WEAK)
    for _ in range(6):
        give(rule, kept, WEAK, network)
        assert is_open(rule, kept)


def test_a_witness_of_an_open_gate_has_the_weights_of_the_source() -> None:
    class Learned(Network):
        """Weights that learned with batches' statistics, and say one class with stored ones."""

        def __call__(
            self, inputs: Tensor, params: object = None, policy: NormPolicy | None = None
        ) -> Prediction:
            found = super().__call__(inputs, params, policy)
            return found if params == {} else Prediction(ONE[: len(inputs)], None)

    rule = AdaptiveNorm()
    kept = opened(rule)
    give(rule, kept, WEAK, Learned(stored=WEAK))
    assert is_open(rule, kept)


def test_few_samples_of_a_witness_do_not_close_the_gate_if_all_of_them_speak_for_it() -> None:
    rule, stored = AdaptiveNorm(), WEAK.clone()
    stored[:12] = ONE[:12]
    kept, network = opened(rule), Network(stored=stored, batch=WEAK)
    for _ in range(2):
        give(rule, kept, WEAK, network)
        assert is_open(rule, kept)
    assert network.samples == 2 * (24 + 64)


def test_a_few_samples_hardly_move_what_a_whole_batch_has_shown() -> None:
    rule = AdaptiveNorm()
    kept = opened(rule)
    less_sure = 0.4 * WEAK[:8]
    give(rule, kept, less_sure, Network(stored=ONE[:8], batch=less_sure))
    assert is_open(rule, kept)
    for _ in range(6):
        give(rule, kept, less_sure, Network(stored=ONE[:8], batch=less_sure))
    assert not is_open(rule, kept)


def test_an_open_gate_bears_one_weak_witness_and_closes_with_the_second() -> None:
    rule, weaker = AdaptiveNorm(), (NOISE + 2.4 * torch.eye(CLASSES)[drawn(64)]).roll(40, 0)
    narrow = WEAK.roll(40, 0)
    narrow[:, 5:] -= 2.2  # stored statistics favour half of the classes
    kept, network = opened(rule), Network(stored=narrow, batch=weaker)
    for expected in (True, False):
        give(rule, kept, weaker, network)
        assert is_open(rule, kept) == expected


def test_a_doubted_gate_is_heard_whatever_that_costs() -> None:
    # it was opened by mistake and one witness said so: unheard, it stayed open for a whole stream
    rule = AdaptiveNorm()
    kept = opened(rule)
    kept["credit"].fill_(-1000.0)
    give(rule, kept, SCATTERED, Network(stored=ONE))
    assert is_open(rule, kept)
    kept["doubted"].fill_(1.0)
    give(rule, kept, SCATTERED, Network(stored=ONE))
    assert not is_open(rule, kept)


def test_a_gate_that_opened_on_credit_closes_with_the_next_batch_of_one_class() -> None:
    # a batch at the border of two runs opened it by the second opinion, with the last credit
    rule = AdaptiveNorm()
    kept = memory(rule)
    kept["credit"].fill_(-40.0)
    give(rule, kept, WEAK, Network(WEAK))
    assert is_open(rule, kept)
    give(rule, kept, SCATTERED, Network(stored=ONE))
    assert not is_open(rule, kept)


def test_while_predictions_come_in_an_order_the_gate_does_not_open() -> None:
    rule = AdaptiveNorm()
    kept, network = memory(rule), Network(ALL)
    ordered = sure_of(drawn(64).sort().values)
    for _ in range(4):
        give(rule, kept, ALL, network, corrected=ordered)
        assert not is_open(rule, kept)
    give(rule, kept, ALL, network)
    assert is_open(rule, kept)


def test_the_gate_closes_at_once_where_corrected_predictions_show_few_classes() -> None:
    rule = AdaptiveNorm()
    kept, network = opened(rule), Network(ALL)
    give(rule, kept, ALL, network, corrected=ONE)
    assert not is_open(rule, kept)
    assert not network.policies


def test_witnesses_of_a_closed_gate_see_batch_statistics_at_their_whole_weight() -> None:
    rule = AdaptiveNorm()
    kept, network = memory(rule), Network(ONE, batch=SCATTERED)
    give(rule, kept, ONE, network)
    assert rule.report(kept)["late_share"] == 0
    kept["open"].fill_(1)
    assert network.policies == [rule.norm(BATCH, 64, kept)]


@pytest.mark.parametrize("logits", [WEAK, ONE], ids=["open", "closed"])
def test_at_most_one_sample_in_sixteen_passes_again(logits: Tensor) -> None:
    rule = AdaptiveNorm()
    kept, network = memory(rule), Network(logits, batch=logits)
    for _ in range(24):  # of which the first may be looked at on credit
        give(rule, kept, logits, network)
    first = network.samples
    for _ in range(96):
        give(rule, kept, logits, network)
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
