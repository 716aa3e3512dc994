"""Snapshots: kept in a ring, gone back to exactly."""

import pytest
import torch
from torch import Tensor

import trimtab
from reference import nets


@pytest.fixture
def adapter(recorded: dict[str, Tensor]) -> trimtab.Adapter:
    return trimtab.adapt(nets.trained("gn", recorded), "tent", lr=0.01)


def test_a_rollback_goes_on_as_from_the_snapshot(adapter: trimtab.Adapter, images: Tensor) -> None:
    adapter(images[:16])
    adapter.snapshot("good")
    expected = [adapter(batch) for batch in images[16:48].split(16)]
    adapter.rollback("good")
    again = [adapter(batch) for batch in images[16:48].split(16)]
    assert all(torch.equal(a, b) for a, b in zip(expected, again, strict=True))
    assert adapter.counters.updates == 5


def test_the_latest_snapshot_is_the_default(adapter: trimtab.Adapter, images: Tensor) -> None:
    adapter.snapshot("first")
    adapter(images[:16])
    adapter.snapshot()
    expected = adapter.predict(images[:16])
    adapter(images[16:32])
    adapter.rollback()
    assert torch.equal(adapter.predict(images[:16]), expected)
    assert [snapshot.name for snapshot in adapter.history] == ["first", "sample 16"]


def test_a_name_is_used_once_and_the_ring_is_short(
    adapter: trimtab.Adapter, images: Tensor
) -> None:
    for n in range(12):
        adapter.snapshot(f"number {n}")
    adapter.snapshot("number 11")
    assert [s.name for s in adapter.history] == [f"number {n}" for n in range(4, 12)]


def test_an_unknown_snapshot_is_refused(adapter: trimtab.Adapter) -> None:
    with pytest.raises(ValueError, match="there is no snapshot to go back to; known: none"):
        adapter.rollback()
    adapter.snapshot("only")
    with pytest.raises(ValueError, match="there is no snapshot 'other' to go back to"):
        adapter.rollback("other")


def test_a_snapshot_of_another_model_or_method_is_refused(
    adapter: trimtab.Adapter, recorded: dict[str, Tensor], images: Tensor
) -> None:
    adapter(images[:16])
    before = adapter.predict(images[:16])
    model = nets.trained("gn", recorded)
    for other in (trimtab.adapt(adapter.backbone, "roid"), trimtab.adapt(model, "tent", lr=0.01)):
        other(images[:16])
        with pytest.raises(ValueError, match="snapshot 'x' belongs to another model or method"):
            adapter.rollback(other.snapshot("x"))
    assert torch.equal(adapter.predict(images[:16]), before)


def test_a_clone_goes_back_to_a_snapshot_of_the_original(
    adapter: trimtab.Adapter, images: Tensor
) -> None:
    kept = adapter.snapshot()
    twin = adapter.clone()
    expected = twin(images[:16])
    twin.rollback(kept)
    assert torch.equal(twin(images[:16]), expected)


def test_evidence_goes_on_after_a_rollback_to_before_the_first_batch(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    adapter = trimtab.adapt(nets.trained("gn", recorded), "tent", lr=0.0, guard=True)
    adapter.snapshot("begin")
    adapter(images[:16])
    adapter.rollback("begin")
    adapter(images[16:32])
    assert adapter.health.looked_at == 32


def test_a_guard_blesses_states_that_do_no_harm(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    adapter = trimtab.adapt(nets.trained("gn", recorded), "tent", lr=0.0, guard=True)
    for batch in images.repeat(3, 1, 1, 1).split(16):
        adapter(batch)
        if any(snapshot.blessed for snapshot in adapter.history):
            break
    assert adapter.history[-1].blessed
    assert adapter.state.blessed is not None
    assert adapter.history[-1].samples == adapter.counters.samples


def test_a_blessed_state_that_was_loaded_is_of_no_later_than_the_load(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("gn", recorded)
    first, second = (trimtab.adapt(model, "tent", lr=0.0, guard=True) for _ in range(2))
    for batch in images.repeat(3, 1, 1, 1).split(16):
        first(batch)
    second.load_state_dict(first.state_dict())
    second(images[:16])
    assert second.history[0].samples == first.counters.samples


def test_a_clone_has_the_same_snapshots(adapter: trimtab.Adapter, images: Tensor) -> None:
    adapter.snapshot("here")
    twin = adapter.clone()
    twin(images[:16])
    twin.rollback("here")
    assert torch.equal(twin.predict(images[:16]), adapter.predict(images[:16]))


def test_what_a_guard_has_blessed_makes_room_for_later_snapshots(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    adapter = trimtab.adapt(nets.trained("gn", recorded), "tent", lr=0.0, guard=True)
    while not adapter.history:
        adapter(images[:64])
    names = [f"number {n}" for n in range(8)]
    for name in names:
        adapter.snapshot(name)
    adapter(images[:16])
    assert [s.name for s in adapter.history] == names


def test_what_was_blessed_before_a_load_is_older_than_snapshots_after_it(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("gn", recorded)
    first, second = (trimtab.adapt(model, "tent", lr=0.0, guard=True) for _ in range(2))
    while not first.history:
        first(images[:64])
    second.load_state_dict(first.state_dict())
    second.snapshot("later")
    second(images[:16])
    assert [s.blessed for s in second.history] == [True, False]


@pytest.mark.parametrize("setting", [{"window": 8}, {"budget": 1.5}, {"adapt_every": 2}])
def test_a_snapshot_of_a_stream_with_another_window_or_pace_is_refused(
    adapter: trimtab.Adapter, images: Tensor, setting: dict[str, float]
) -> None:
    other = trimtab.adapt(adapter.backbone, "tent", lr=0.01, **setting)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"snapshot 'x' belongs to a stream with .*, here it is"):
        adapter.rollback(other.snapshot("x"))
    assert (adapter.window.size, adapter.pace.budget, adapter.pace.adapt_every) == (None, None, 1)
