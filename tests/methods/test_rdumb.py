"""RDumb: ETA that begins again."""

import pytest
import torch
from torch import Tensor

import trimtab
from reference import nets

pytestmark = pytest.mark.parametrize("norm", ["ln"])


def test_it_resets_after_a_thousand_batches_and_counts_the_reset(
    model: nets.Net, images: Tensor
) -> None:
    adapter = trimtab.adapt(model, "rdumb")
    stream = [image.clone() for image in images.split(1)]
    for index in range(999):
        adapter(stream[index % 96])
    assert adapter.counters.resets == 0
    assert adapter.counters.updates < 999  # batches count, whether or not they taught anything
    assert any(not torch.equal(p, adapter.source[n]) for n, p in adapter.params.items())
    adapter(stream[0])
    assert adapter.counters.resets == 1
    assert all(torch.equal(p, adapter.source[n]) for n, p in adapter.params.items())
    assert adapter.memory["novel_samples"] == {}


def test_until_then_it_is_eta(model: nets.Net, images: Tensor) -> None:
    rdumb, eta = trimtab.adapt(model, "rdumb", every=3), trimtab.adapt(model, "eta")
    for batch in images[:48].split(16):
        assert torch.equal(rdumb(batch), eta(batch))
    eta.reset()
    for batch in images[48:].split(16):
        assert torch.equal(rdumb(batch), eta(batch))


def test_the_count_goes_on_after_a_restore(model: nets.Net, images: Tensor) -> None:
    adapter, other = (trimtab.adapt(model, "rdumb", every=3) for _ in range(2))
    for batch in images[:32].split(16):
        adapter(batch)
    other.load_state_dict(adapter.state_dict())
    other(images[32:48])
    assert other.counters.resets == 1
