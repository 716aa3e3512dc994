"""Updates from few samples count for little."""

import pytest
import torch
from torch import Tensor

import trimtab
from components import steps
from reference import nets
from trimtab.components.cautious_updates import CautiousUpdates


@pytest.mark.parametrize(("count", "share"), [(8, 0.25), (32, 1.0), (100, 1.0)])
def test_the_share_of_an_update_that_stays_is_that_of_its_samples(count: int, share: float) -> None:
    rule, memory = CautiousUpdates(), {"before.w": torch.zeros(3), "count": torch.tensor(0.0)}
    params = {"w": torch.tensor([1.0, -2.0, 4.0])}
    rule.observe(torch.zeros(count), memory)
    rule.after_update(params, {}, memory)
    torch.testing.assert_close(params["w"], share * torch.tensor([1.0, -2.0, 4.0]))
    assert torch.equal(memory["before.w"], params["w"])


def test_large_batches_learn_as_without_it(model: nets.Net, images: Tensor) -> None:
    plain = trimtab.adapt(model, "tent")
    cautious = trimtab.adapt(model, "tent + cautious_updates(samples=16)")
    for batch in images.split(32):
        assert torch.equal(plain(batch), cautious(batch))


def test_single_samples_move_weights_less(model: nets.Net, images: Tensor) -> None:
    adapters = [trimtab.adapt(model, spec) for spec in ("tent", "tent + cautious_updates")]
    for batch in images[:24].split(1):
        for adapter in adapters:
            adapter(batch)
    moved = [
        sum(float((p.detach() - a.source[name]).square().sum()) for name, p in a.params.items())
        for a in adapters
    ]
    assert 0 < moved[1] < moved[0] / 10


def one_update(rule: CautiousUpdates, batches: list[Tensor]) -> float:
    """The share of an update that stays once the classes of some predictions were seen."""
    memory = steps.first_memory(rule, 10) | {"before.w": torch.zeros(1)}
    rule.observe(torch.zeros(64), memory)
    for classes in batches:
        logits = torch.nn.functional.one_hot(classes, 10).float()
        weights = rule.weights(steps.step(logits), memory)
        assert torch.equal(weights, torch.ones(len(classes)))
    params = {"w": torch.ones(1)}
    rule.after_update(params, {}, memory)
    return float(params["w"])


def test_an_update_from_one_class_counts_for_little_however_samples_are_batched() -> None:
    """Long runs of single classes had taught a network to predict two classes and nothing else."""
    rule = CautiousUpdates(variety=0.5)
    independent = torch.arange(10).repeat(100)
    assert one_update(rule, [independent]) == 1.0
    assert one_update(rule, list(independent[:64].split(1))) == 1.0
    assert one_update(rule, [torch.full((1,), 3)]) == 1.0  # nobody knows yet
    run = torch.full((256,), 3)
    assert one_update(rule, [independent, *run.split(64)]) < 0.2
    assert one_update(rule, [independent, *run.split(1)]) < 0.2
    assert one_update(rule, [run, independent]) == 1.0
    assert one_update(CautiousUpdates(), [independent, run]) == 1.0


def test_a_stream_that_has_shown_one_class_only_learns_it() -> None:
    """Nothing else is to be forgotten, and batch norms are wrong on it until they are moved."""
    assert one_update(CautiousUpdates(variety=0.5), list(torch.full((256,), 3).split(64))) == 1.0


def test_the_number_of_samples_must_be_positive() -> None:
    with pytest.raises(ValueError, match="samples must be positive, got 0"):
        CautiousUpdates(samples=0)
