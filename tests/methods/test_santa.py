"""SANTA's cost and anchor."""

import torch
from torch import Tensor

import trimtab
from reference import nets


def test_norm_layers_and_the_projector_learn(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "santa")
    adapter(images[:16])
    assert adapter.params.keys() == trimtab.adapt(model, "tent").params.keys()
    assert adapter.counters.forward_samples == 3 * 16
    assert adapter.counters.backward_samples == 2 * 16


def test_outputs_are_the_students_before_the_update(model: nets.Net, images: Tensor) -> None:
    slow, fast = (trimtab.adapt(model, "santa", lr=lr) for lr in (1e-6, 1e-1))
    assert torch.equal(slow(images[:16]), fast(images[:16]))
    assert not torch.equal(slow(images[:16]), fast(images[:16]))


def test_it_works_with_source_data_and_in_a_window(
    model: nets.Net, images: Tensor, recorded: dict[str, Tensor]
) -> None:
    data = [(recorded["source_x"].float() / 255, recorded["source_y"])]
    adapter = trimtab.adapt(model, "santa", source_data=data, window=12)
    for batch in images[:48].split(5):
        assert adapter(batch).isfinite().all()
    assert adapter.counters.updates == 4
