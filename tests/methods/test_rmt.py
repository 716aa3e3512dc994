"""RMT's outputs, source data and warm-up."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.optim.adam import adam

import trimtab
from core.attempts import attempt_of
from reference import nets
from trimtab.core import optimizer
from trimtab.core.source_data import SourceData


def flip(images: Tensor) -> Tensor:
    return images.flip(-1)


@pytest.fixture
def source(recorded: dict[str, Tensor]) -> SourceData:
    inputs, labels = recorded["source_x"].float() / 255, recorded["source_y"]
    return list(zip(inputs.split(16), labels.split(16), strict=True))


def test_outputs_are_the_sum_of_both_networks_logits_before_the_update(
    model: nets.Net, images: Tensor
) -> None:
    adapter = trimtab.adapt(model, "rmt", momentum=0.5, lr=0.01)
    adapter(images[:16])
    student = {name: value.detach().clone() for name, value in adapter.params.items()}
    teacher = {name: value.clone() for name, value in adapter.memory["mean_teacher"].items()}
    with torch.no_grad():
        attempt = attempt_of(adapter)
        both = [
            attempt.learner.further_pass(attempt, images[16:32], params).logits
            for params in (student, teacher)
        ]
    assert not torch.equal(*both)
    torch.testing.assert_close(adapter(images[16:32]), both[0] + both[1], rtol=0, atol=1e-5)


def test_without_source_data_it_works_and_costs_three_passes(
    model: nets.Net, images: Tensor
) -> None:
    adapter = trimtab.adapt(model, "rmt")
    for batch in images.split(16):
        assert adapter(batch).isfinite().all()
    assert adapter.counters.updates == 6
    assert adapter.counters.forward_samples == 3 * 96


def test_replay_learns_from_source_batches_in_turn(
    model: nets.Net, images: Tensor, source: SourceData
) -> None:
    plain = trimtab.adapt(model, "rmt", source_data=source, augment=flip)
    replaying = trimtab.adapt(model, "rmt", source_data=source, replay=True, augment=flip)
    for batch in images.split(16):
        plain(batch)
        replaying(batch)
    assert replaying.memory["source_replay"]["batches_read"] == 6
    assert replaying.counters.backward_samples == plain.counters.backward_samples + 6 * 16
    assert any(not torch.equal(plain.params[n], p) for n, p in replaying.params.items())


def test_a_replaying_stream_goes_on_bit_equal(
    model: nets.Net, images: Tensor, source: SourceData, tmp_path: Path
) -> None:
    backbone = trimtab.Backbone(model)
    adapter, other = (
        trimtab.adapt(backbone, "rmt", source_data=source, replay=True) for _ in range(2)
    )
    for batch in images[:48].split(16):
        adapter(batch)
    adapter.save(tmp_path / "stream.safetensors")
    other.load(tmp_path / "stream.safetensors")
    for batch in images[48:].split(16):
        assert torch.equal(adapter(batch), other(batch))


def test_a_reset_returns_to_the_warmed_up_networks(
    model: nets.Net, images: Tensor, source: SourceData
) -> None:
    adapter = trimtab.adapt(model, "rmt", source_data=source, warm_up_samples=100, lr=0.01)
    adapter.begin((3, 16, 16))
    warmed = {name: param.detach().clone() for name, param in adapter.params.items()}
    first = [adapter(batch) for batch in images.split(16)]
    assert all(not torch.equal(adapter.params[name], value) for name, value in warmed.items())
    adapter.reset()
    assert all(torch.equal(adapter.params[name], value) for name, value in warmed.items())
    again = [adapter(batch) for batch in images.split(16)]
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))


def test_a_warm_up_moves_the_weights_at_a_rising_rate(
    model: nets.Net, images: Tensor, source: SourceData, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates = []

    def noting(*tensors: Any, lr: float, **settings: Any) -> None:
        rates.append(lr)
        adam(*tensors, lr=lr, **settings)

    monkeypatch.setattr(optimizer, "adam", noting)
    adapter = trimtab.adapt(model, "rmt", source_data=source, warm_up_samples=64, lr=0.01)
    adapter(images[:16])
    assert adapter.counters.updates == 4 + 1
    assert rates == pytest.approx([0.0025, 0.005, 0.0075, 0.01, 0.01])
    noted = adapter.optimizer
    assert noted is not None
    assert noted.param_groups[0]["lr"] == 0.01


def test_a_warmed_up_stream_goes_on_bit_equal_elsewhere(
    model: nets.Net, images: Tensor, source: SourceData
) -> None:
    backbone = trimtab.Backbone(model)
    adapter, other = (
        trimtab.adapt(backbone, "rmt", source_data=source, warm_up_samples=48, seed=seed)
        for seed in (0, 1)
    )
    before = adapter.state_dict()
    first = adapter(images[:16])
    other.load_state_dict(adapter.state_dict())
    assert torch.equal(adapter(images[16:32]), other(images[16:32]))
    other.load_state_dict(before)
    assert torch.equal(other(images[:16]), first)


def test_replay_and_warm_up_ask_for_source_data() -> None:
    for options in ({"replay": True}, {"warm_up_samples": 10}):
        with pytest.raises(ValueError, match="need source_data="):
            trimtab.build("rmt", **options)
