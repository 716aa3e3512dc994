"""Updates from few samples count for little."""

import pytest
import torch
from torch import Tensor

import trimtab
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


def test_the_number_of_samples_must_be_positive() -> None:
    with pytest.raises(ValueError, match="samples must be positive, got 0"):
        CautiousUpdates(samples=0)
