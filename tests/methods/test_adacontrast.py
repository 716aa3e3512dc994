"""AdaContrast learns first and predicts afterwards."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import trimtab
from reference import nets

SMALL: dict[str, Any] = {"queue_size": 64, "bank_size": 48}


def test_predictions_come_after_the_update_with_the_stored_statistics(
    model: nets.Net, images: Tensor
) -> None:
    adapter = trimtab.adapt(model, "adacontrast", lr=0.05, **SMALL)
    for batch in images[:32].split(16):
        logits = adapter(batch)
    with torch.no_grad():
        after = adapter.backbone(batch, adapter.params, adapter.statistics).logits
    assert torch.equal(logits, after)
    assert torch.equal(logits, adapter.predict(batch))
    slow = trimtab.adapt(model, "adacontrast", lr=0.0, **SMALL)
    assert not torch.equal(slow(images[:16]), trimtab.adapt(model, "adacontrast")(images[:16]))


def test_two_passes_of_the_student_move_its_statistics(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("bn", recorded)
    same: dict[str, Any] = {"weak": lambda x: x, "strong": lambda x: x}
    adapter = trimtab.adapt(model, "adacontrast", lr=0.0, **same, **SMALL)
    adapter(images[:16])
    activations = model.encoder[0](images[:16]).detach()
    name = "encoder.1.running_mean"
    source, batch = adapter.backbone.statistics[name], activations.mean((0, 2, 3))
    expected = 0.81 * source + 0.19 * batch
    for statistics in (adapter.statistics, adapter.memory["key_statistics"]):
        torch.testing.assert_close(statistics[name], expected, rtol=0, atol=1e-6)
    variance = 0.81 * adapter.backbone.statistics["encoder.1.running_var"]
    variance = variance + 0.19 * activations.transpose(0, 1).flatten(1).var(1)  # unbiased
    torch.testing.assert_close(
        adapter.statistics["encoder.1.running_var"], variance, rtol=1e-5, atol=1e-7
    )


def test_neighbours_vote_once_1024_samples_were_seen(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    adapter = trimtab.adapt(nets.trained("gn", recorded), "adacontrast", weak=lambda x: x)
    votes = []
    wrong = torch.zeros(7).index_fill_(0, torch.tensor(6), 1.0)
    for number in range(12):  # 96 images each: the twelfth batch comes after 1056
        if number:
            adapter.memory["pseudo_label_contrast"]["bank_probs"][:] = wrong
        adapter(images)
        labels = adapter.memory["pseudo_label_contrast"]["queue_labels"]
        labels = labels[96 * number : 96 * (number + 1)]
        votes.append(bool((labels == 6).all()))
    assert votes == [False] * 11 + [True]


def test_the_key_network_follows_and_the_bank_fills(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "adacontrast", momentum=0.5, lr=0.05, **SMALL)
    adapter(images[:16])
    memory = adapter.memory["pseudo_label_contrast"]
    for name, source in adapter.source.items():
        expected = (source + adapter.params[name].detach()) / 2
        torch.testing.assert_close(memory[f"key.{name}"], expected, rtol=0, atol=1e-6)
    assert memory["seen"] == 16
    assert (memory["bank_probs"][:16].sum(1) - 1).abs().max() < 1e-5
    assert (memory["bank_probs"][16:] == 0).all()


def test_a_batch_costs_five_passes_and_one_backwards(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "adacontrast", **SMALL)
    adapter(images[:16])
    assert adapter.counters.forward_samples == 5 * 16
    assert adapter.counters.backward_samples == 16


def test_other_objectives_learn_from_the_weak_view(model: nets.Net, images: Tensor) -> None:
    method = trimtab.build("adacontrast + entropy", **SMALL)
    adapter = trimtab.adapt(model, method)
    adapter(images[:16])
    assert adapter.counters.backward_samples == 2 * 16


def test_bank_and_queue_survive_a_save_and_begin_again_after_a_reset(
    model: nets.Net, images: Tensor, tmp_path: Path
) -> None:
    backbone = trimtab.Backbone(model)
    options = {"refine_from": 16, **SMALL}
    adapter, other = (trimtab.adapt(backbone, "adacontrast", **options) for _ in range(2))
    first = [adapter(batch) for batch in images[:64].split(16)]
    adapter.save(tmp_path / "stream.safetensors")
    other.load(tmp_path / "stream.safetensors")
    assert torch.equal(adapter(images[64:80]), other(images[64:80]))
    other.reset()
    again = [other(batch) for batch in images[:64].split(16)]
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))


def test_a_window_learns_from_single_samples_together(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "adacontrast", window=8, **SMALL)
    for image in images[:20].split(1):
        assert adapter(image).isfinite().all()
    assert adapter.counters.updates == 2
    assert adapter.memory["pseudo_label_contrast"]["seen"] == 16


def test_micro_batches_learn_from_all_samples(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "adacontrast", micro_batch=6, **SMALL)
    assert adapter(images[:16]).isfinite().all()
    assert adapter.counters.updates == 1
    assert adapter.counters.backward_samples == 16
