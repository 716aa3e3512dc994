"""What every component owes its users, whichever it is: checked for all of them by discovery."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import trimtab
from contract.recipes import component, rotated
from reference import nets
from same import assert_same
from trimtab.core.method import Method

Start = Callable[..., trimtab.Adapter]


@pytest.fixture(params=trimtab.COMPONENTS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def method(name: str, recorded: dict[str, Tensor]) -> Method:
    """TENT with this component, or this component's objective in place of TENT's."""
    return trimtab.build("tent").plus(component(name, recorded))


@pytest.fixture
def start(name: str, method: Method, recorded: dict[str, Tensor]) -> Start:
    backbone = trimtab.Backbone(nets.trained(rotated(name), recorded))
    return lambda **options: trimtab.adapt(backbone, method, **options)


def memory_layout(adapter: trimtab.Adapter, name: str) -> dict[str, Any]:
    rows = {key: tuple(t.shape) for key, t in adapter.memory[name].items()}
    return {key: (rows[key], t.dtype) for key, t in adapter.memory[name].items()}


@pytest.mark.parametrize("window", [None, 8])
def test_going_on_after_a_restore_is_bit_equal_at_every_position(
    start: Start, images: Tensor, tmp_path: Path, window: int | None
) -> None:
    adapter = start(window=window)
    outputs, states = [], []
    for batch in images[:60].split(12):
        states.append(adapter.state_dict())
        outputs.append(adapter(batch))
    for position, state in enumerate(states):
        other = start(window=window, seed=1)
        other.load_state_dict(state)
        for batch, expected in zip(
            images[:60].split(12)[position:], outputs[position:], strict=True
        ):
            assert torch.equal(other(batch), expected)
        assert_same(other.state_dict(), adapter.state_dict())
    adapter.save(tmp_path / "stream")
    other = start(window=window)
    other.load(tmp_path / "stream")
    assert torch.equal(other(images[60:72]), adapter(images[60:72]))


def test_a_reset_begins_again(start: Start, images: Tensor) -> None:
    adapter = start()
    first = [adapter(batch) for batch in images[:48].split(12)]
    adapter.reset()
    again = [adapter(batch) for batch in images[:48].split(12)]
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))


def test_predict_changes_nothing_and_says_what_comes(start: Start, images: Tensor) -> None:
    adapter = start()
    for batch in images[:36].split(12):
        before = adapter.state_dict()
        promised = adapter.predict(batch)
        assert_same(adapter.state_dict(), before)
        assert torch.equal(adapter(batch), promised)


def test_streams_do_not_meet_in_a_component(start: Start, images: Tensor) -> None:
    left, right, alone = start(), start(seed=3), start()
    for batch in images[:48].split(12):
        mixed = left(batch)
        right(batch.flip(0))
        assert torch.equal(mixed, alone(batch))


@pytest.mark.parametrize("size", [1, 2, 16])
def test_degenerate_batches_leave_everything_finite(
    start: Start, images: Tensor, size: int
) -> None:
    adapter = start()
    flat = torch.full_like(images[:size], 0.5)
    for batch in (flat, flat, images[:size], torch.zeros_like(flat), images[:size]):
        assert adapter(batch).isfinite().all()
    tensors = [t for memory in adapter.memory.values() for t in memory.values()]
    assert all(t.isfinite().all() for t in tensors if t.is_floating_point())
    assert all(p.isfinite().all() for p in adapter.params.values())


@pytest.mark.parametrize("options", [{"window": 5}, {"micro_batch": 3}, {"budget": 1.7}])
def test_it_works_with_every_option(start: Start, images: Tensor, options: dict[str, Any]) -> None:
    adapter = start(**options)
    for batch in images.split(16):
        logits = adapter(batch)
        assert logits.shape == (16, 7)
        assert logits.isfinite().all()
    assert adapter.counters.updates + adapter.counters.skipped_updates > 0


def test_memory_keeps_the_names_shapes_and_types_that_it_declares(
    start: Start, name: str, method: Method, images: Tensor
) -> None:
    adapter = start()
    adapter.begin((3, 16, 16))
    declared = memory_layout(adapter, name)
    rule = next(c for c in method.components if c.name == name)
    for batch in images[:64].split(16):
        adapter(batch)
        found = memory_layout(adapter, name)
        assert found.keys() - rule.later_memory.keys() == declared.keys()
        for key, (shape, kind) in declared.items():
            rows = int(key in rule.varying_memory)
            assert (found[key][0][rows:], found[key][1]) == (shape[rows:], kind), key


def test_half_precision_memory_can_be_restored(
    name: str, method: Method, recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained(rotated(name), recorded).bfloat16()
    backbone = trimtab.Backbone(model)
    adapter, other = (trimtab.adapt(backbone, method) for _ in range(2))
    for batch in images[:32].bfloat16().split(16):
        other.load_state_dict(adapter.state_dict())
        assert torch.equal(adapter(batch), other(batch))
