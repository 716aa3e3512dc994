"""What every method owes its users, whichever it is: checked for all of them by discovery."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import trimtab
from contract.recipes import NORMS, options_of
from reference import nets
from same import assert_same

SIZES = (1, 2, 16)
CASES = [(method, norm) for method in trimtab.METHODS for norm in NORMS]


@pytest.fixture(params=CASES, ids=lambda case: "-".join(case))
def case(request: pytest.FixtureRequest) -> tuple[str, str]:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def model(case: tuple[str, str], recorded: dict[str, Tensor]) -> nets.Net:
    return nets.trained(case[1], recorded)


@pytest.fixture
def options(case: tuple[str, str], recorded: dict[str, Tensor]) -> dict[str, Any]:
    """Source data for the methods that take some, few views for those that take many."""
    return options_of(case[0], recorded)


@pytest.fixture
def start(case: tuple[str, str], model: nets.Net, options: dict[str, Any]) -> Any:
    """A function that starts the method on the model."""
    backbone = trimtab.Backbone(model)
    return lambda **more: trimtab.adapt(backbone, case[0], **options, **more)


def batches(images: Tensor, size: int, count: int = 5) -> Iterator[Tensor]:
    return iter(images[: size * count].split(size))


@pytest.mark.parametrize("size", SIZES)
def test_predictions_are_finite_logits_of_the_right_shape(
    start: Any, images: Tensor, size: int
) -> None:
    adapter = start()
    for batch in batches(images, size):
        logits = adapter(batch)
        assert logits.shape == (size, 7)
        assert logits.isfinite().all()
        assert not logits.requires_grad


def test_the_users_model_stays_as_it_was(start: Any, model: nets.Net, images: Tensor) -> None:
    before = copy.deepcopy(model.state_dict())
    flags = [parameter.requires_grad for parameter in model.parameters()]
    adapter = start()
    for batch in batches(images, 16):
        adapter(batch)
    assert_same(dict(before), dict(model.state_dict()))
    assert model.training
    assert flags == [parameter.requires_grad for parameter in model.parameters()]
    assert all(parameter.grad is None for parameter in model.parameters())


def test_reset_returns_exactly_to_the_start(start: Any, images: Tensor) -> None:
    adapter = start()
    first = [adapter(batch) for batch in batches(images, 16)]
    adapter.reset()
    again = [adapter(batch) for batch in batches(images, 16)]
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert adapter.counters.resets >= 1


@pytest.mark.parametrize("size", SIZES)
def test_going_on_after_a_restore_is_bit_equal_at_every_position(
    start: Any, images: Tensor, tmp_path: Path, size: int
) -> None:
    adapter = start()
    straight, states = [], []
    for batch in batches(images, size, 4):
        states.append(adapter.state_dict())
        straight.append(adapter(batch))
    adapter.save(tmp_path / "end.safetensors")
    for position, state in enumerate(states):
        other = start(seed=1)
        other.load_state_dict(state)
        resumed = [other(batch) for batch in list(batches(images, size, 4))[position:]]
        assert all(torch.equal(a, b) for a, b in zip(straight[position:], resumed, strict=True))
        assert_same(other.state_dict(), adapter.state_dict())
    from_disk = start()
    from_disk.load(tmp_path / "end.safetensors")
    assert_same(from_disk.state_dict(), adapter.state_dict())
    assert torch.equal(from_disk(images[-size:]), adapter(images[-size:]))


def test_interleaved_streams_equal_separate_ones(start: Any, images: Tensor) -> None:
    left, right, alone = start(), start(seed=3), start()
    mixed = []
    for batch in batches(images, 16, 3):
        mixed.append(left(batch))
        right(batch.flip(0))
    expected = [alone(batch) for batch in batches(images, 16, 3)]
    assert all(torch.equal(a, b) for a, b in zip(mixed, expected, strict=True))


def test_inputs_are_not_modified(start: Any, images: Tensor) -> None:
    adapter, before = start(), images.clone()
    for batch in batches(images, 16, 2):
        adapter(batch)
    assert torch.equal(images, before)


def test_a_caller_may_reuse_its_buffer(start: Any, images: Tensor) -> None:
    fresh, reusing = start(), start()
    buffer = torch.empty_like(images[:4])
    for batch in batches(images, 4):
        expected = fresh(batch.clone())
        buffer.copy_(batch)
        assert torch.equal(reusing(buffer), expected)


def test_the_callers_grad_mode_is_no_matter(start: Any, images: Tensor) -> None:
    plain, no_grad, inference = start(), start(), start()
    for batch in batches(images, 16, 3):
        expected = plain(batch)
        with torch.no_grad():
            assert torch.equal(no_grad(batch), expected)
        with torch.inference_mode():
            assert torch.equal(inference(batch.clone()), expected)


@pytest.mark.parametrize("size", SIZES)
def test_degenerate_batches_leave_everything_finite(start: Any, images: Tensor, size: int) -> None:
    adapter = start()
    constant = torch.full_like(images[:size], 0.5)
    for batch in (constant, constant, images[:size], torch.zeros_like(constant), images[:size]):
        assert adapter(batch).isfinite().all()
    assert all(p.isfinite().all() for p in adapter.params.values())
    assert all(
        t.isfinite().all()
        for memory in adapter.memory.values()
        for t in memory.values()
        if t.is_floating_point()
    )


def test_extreme_logits_leave_everything_finite(
    case: tuple[str, str], model: nets.Net, options: dict[str, Any], images: Tensor
) -> None:
    with torch.no_grad():
        model.classifier.weight.mul_(1e4)
    adapter = trimtab.adapt(model, case[0], **options)
    for batch in batches(images, 16, 3):
        assert adapter(batch).isfinite().all()
    assert all(p.isfinite().all() for p in adapter.params.values())


def test_a_shorter_last_batch_works(start: Any, images: Tensor) -> None:
    adapter = start()
    assert [len(adapter(batch)) for batch in images[:37].split(16)] == [16, 16, 5]


def test_predict_changes_nothing(start: Any, images: Tensor) -> None:
    adapter = start()
    adapter(images[:16])
    before = copy.deepcopy(adapter.state_dict())
    first = adapter.predict(images[16:32])
    assert torch.equal(first, adapter.predict(images[16:32]))
    assert_same(before, adapter.state_dict())


def test_bad_batches_are_refused_and_change_nothing(start: Any, images: Tensor) -> None:
    adapter = start()
    adapter(images[:16])
    before = adapter.state_dict()
    broken = images[:16].clone()
    broken[3, 0, 0, 0] = float("nan")
    for batch in (broken, images[:16, :2], images[:16, :, 0], images[:0], images[:16].double()):
        with pytest.raises(ValueError, match="inputs must"):
            adapter(batch)
    assert_same(before, adapter.state_dict())


def test_counters_agree_with_what_runs(start: Any, images: Tensor) -> None:
    adapter = start()
    adapter(images[:16])
    before, ran = adapter.counters.forward_samples, 0

    def count(_: object, args: tuple[Tensor, ...]) -> None:
        nonlocal ran
        ran += len(args[0])

    handle = adapter.backbone.model.register_forward_pre_hook(count)
    for batch in batches(images, 16, 3):
        adapter(batch)
    handle.remove()
    assert adapter.counters.forward_samples - before == ran
    assert adapter.counters.samples == 64


def test_the_seed_decides_everything(start: Any, images: Tensor) -> None:
    left, right = start(seed=5), start(seed=5)
    for batch in batches(images, 16, 3):
        torch.manual_seed(int(batch.sum()))  # the global random state has no say
        assert torch.equal(left(batch), right(batch))
    assert_same(left.state_dict(), right.state_dict())
