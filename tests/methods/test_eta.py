"""ETA: nothing moves where nothing is selected."""

from typing import Any

import pytest
import torch
from torch import Tensor

import trimtab
from reference import nets


@pytest.mark.parametrize("method", ["eta", "eata", "rdumb"])
def test_weights_stay_bit_identical_when_nothing_is_selected(
    model: nets.Net, images: Tensor, method: str
) -> None:
    options: dict[str, Any] = {"source_data": [images[:16]]} if method == "eata" else {}
    adapter = trimtab.adapt(model, method, max_entropy=1e-9, **options)
    for batch in images.split(16):
        adapter(batch)
    assert all(torch.equal(p, adapter.source[name]) for name, p in adapter.params.items())
    assert adapter.counters.updates == adapter.counters.skipped_updates == 0
    assert adapter.memory["novel_samples"] == {}


def test_velocity_does_not_move_weights_when_nothing_is_selected(
    model: nets.Net, images: Tensor
) -> None:
    adapter = trimtab.adapt(model, "eta", max_similarity=1e-6)
    adapter(images[:16])  # the first batch is not compared with anything
    before = {name: p.detach().clone() for name, p in adapter.params.items()}
    assert any(not torch.equal(p, adapter.source[name]) for name, p in before.items())
    adapter(images[16:32])
    assert adapter.counters.updates == 1
    assert all(torch.equal(p, before[name]) for name, p in adapter.params.items())


def test_samples_that_are_left_out_cost_no_backward_pass(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "eta")
    adapter(images[:16])
    probs = trimtab.adapt(model, "bn1")(images[:16]).softmax(1)
    uncertainty = -(probs * probs.log()).sum(1)
    limit = 0.4 * torch.tensor(7.0).log()
    assert adapter.counters.backward_samples == int((uncertainty < limit).sum())
    assert adapter.counters.forward_samples == 16
