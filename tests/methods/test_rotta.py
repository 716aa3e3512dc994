"""RoTTA's memory, teacher and statistics."""

from pathlib import Path

import pytest
import torch
from torch import Tensor

import trimtab
from reference import nets


@pytest.fixture
def many(images: Tensor) -> Tensor:
    """200 images."""
    return torch.cat([images, images.flip(-1), images[:8].flip(-2)])


def test_a_batch_of_200_gives_three_updates_of_64_that_it_does_not_feel(
    model: nets.Net, many: Tensor
) -> None:
    quick, still = (trimtab.adapt(model, "rotta", lr=lr) for lr in (0.1, 0.0))
    assert torch.equal(quick(many), still(many))
    assert quick.counters.updates == 3
    assert quick.memory["class_balanced_memory"]["arrived"] == 200
    quick(many[:55])
    assert quick.counters.updates == 3
    quick(many[:1])
    assert quick.counters.updates == 4


def test_predictions_are_the_teachers_with_statistics_of_its_own(
    model: nets.Net, images: Tensor
) -> None:
    adapter = trimtab.adapt(model, "rotta", memory_size=16)
    adapter(images[:16])
    teacher, statistics = adapter.memory["mean_teacher"], adapter.memory["teacher_statistics"]
    with torch.no_grad():
        expected = adapter.backbone(images[16:24], teacher, statistics).logits
    assert torch.equal(adapter(images[16:24]), expected)


def test_statistics_move_only_in_updates_and_differ_between_the_networks(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    adapter = trimtab.adapt(nets.trained("bn", recorded), "rotta", memory_size=16)
    source = adapter.backbone.statistics
    adapter(images[:15])
    both = adapter.statistics, adapter.memory["teacher_statistics"]
    assert all(torch.equal(s[name], source[name]) for s in both for name in source)
    adapter(images[15:16])
    student, teacher = adapter.statistics, adapter.memory["teacher_statistics"]
    assert not any(torch.equal(teacher[name], source[name]) for name in source)
    assert not any(torch.equal(student[name], teacher[name]) for name in source)


def test_statistics_move_by_a_twentieth_towards_the_memory(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("bn", recorded)
    adapter = trimtab.adapt(model, "rotta", memory_size=7)  # one place for each class
    adapter(images[:7])
    memory = adapter.memory["class_balanced_memory"]
    seen = memory["inputs"][memory["items"][:, 0] >= 0]
    activations = model.encoder[0](seen).transpose(0, 1).flatten(1)
    name = "encoder.1.running_var"
    expected = torch.lerp(
        adapter.backbone.statistics[name], activations.var(1, correction=0), torch.tensor(0.05)
    )
    found = adapter.memory["teacher_statistics"][name]
    torch.testing.assert_close(found, expected.detach(), rtol=1e-5, atol=1e-7)


def test_stored_images_are_no_views_of_a_buffer_the_caller_reuses(
    model: nets.Net, images: Tensor
) -> None:
    adapter = trimtab.adapt(model, "rotta", memory_size=16)
    buffer = torch.empty_like(images[:1])
    for image in images[:8].split(1):
        adapter(buffer.copy_(image))
    memory = adapter.memory["class_balanced_memory"]
    stored = memory["inputs"][memory["items"][:, 0] >= 0]
    assert len(stored) > 1
    assert all(any(torch.equal(kept, image) for image in images[:8]) for kept in stored)
    assert not torch.equal(stored[0], stored[1])


def test_batches_of_any_size_lead_to_the_same_stream_without_updates_between(
    model: nets.Net, images: Tensor
) -> None:
    whole, singly = (trimtab.adapt(model, "rotta", memory_size=32) for _ in range(2))
    whole(images[:32])
    for image in images[:32].split(1):
        singly(image)
    for name, param in whole.params.items():
        torch.testing.assert_close(param, singly.params[name], rtol=0, atol=1e-5)


def test_micro_batches_see_the_statistics_of_the_whole_memory(
    model: nets.Net, images: Tensor
) -> None:
    whole, parts = (trimtab.adapt(model, "rotta", memory_size=16, micro_batch=m) for m in (None, 4))
    for batch in images.split(16):
        whole(batch)
        parts(batch)
    for name, value in whole.statistics.items():
        torch.testing.assert_close(parts.statistics[name], value, rtol=0, atol=1e-3)
    assert parts.counters.updates == whole.counters.updates


def test_a_saved_stream_keeps_its_memory_bank_and_its_teacher(
    model: nets.Net, images: Tensor, tmp_path: Path
) -> None:
    backbone = trimtab.Backbone(model)
    adapter, other = (trimtab.adapt(backbone, "rotta", memory_size=16) for _ in range(2))
    adapter(images[:40])
    adapter.save(tmp_path / "stream.safetensors")
    other.load(tmp_path / "stream.safetensors")
    for batch in images[40:].split(7):
        assert torch.equal(adapter(batch), other(batch))


def test_a_window_leaves_the_updates_to_the_memory(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "rotta + prior_correction", memory_size=32, window=5)
    for batch in images.split(3):
        assert adapter(batch).isfinite().all()
    assert adapter.counters.updates == 3
