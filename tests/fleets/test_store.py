"""Streams that are not in memory wait in a store, and go on exactly."""

import gc
import weakref
from pathlib import Path

import pytest
import torch
from torch import Tensor

import trimtab
from contract.recipes import options_of, rotated
from reference import nets
from same import assert_same

NAMES = [f"phone {number}" for number in range(6)]


def run(fleet: trimtab.Fleet, images: Tensor, steps: int = 3) -> list[dict[str, object]]:
    """Steps of changing streams."""
    outputs: list[dict[str, object]] = []
    for number in range(steps):
        chosen = [name for i, name in enumerate(NAMES) if (i + number) % 3]
        step = {name: images[7 * number + 3 * i :][:2] for i, name in enumerate(chosen)}
        outputs.append(dict(fleet.step(step)))
    return outputs


@pytest.mark.slow
@pytest.mark.parametrize("method", trimtab.METHODS)
def test_going_on_after_a_time_in_the_store_is_exact(
    method: str, tmp_path: Path, recorded: dict[str, Tensor], images: Tensor
) -> None:
    backbone = trimtab.Backbone(nets.trained(rotated(method), recorded))
    recipe = trimtab.build(method, **options_of(method, recorded))
    # groups of the same streams, so that the same passes are merged
    roomy = trimtab.fleet(backbone, recipe, samples_at_once=4)
    tight = trimtab.fleet(backbone, recipe, samples_at_once=4, resident=2, store=tmp_path)
    assert_same(dict(enumerate(run(tight, images))), dict(enumerate(run(roomy, images))))
    assert len(tight.in_memory) <= 2
    assert list(tight) == list(roomy) == NAMES
    for name in NAMES:
        assert_same(tight[name].state_dict(), roomy[name].state_dict())


def test_a_stream_in_somebodys_hands_stays_in_memory(
    tmp_path: Path, recorded: dict[str, Tensor], images: Tensor
) -> None:
    fleet = trimtab.fleet(nets.trained("gn", recorded), "tent", resident=1, store=tmp_path)
    held = fleet["held"]
    held(images[:2])
    for name in ("x", "y"):
        fleet.step({name: images[:2]})
    held(images[2:4])
    assert fleet["held"] is held
    assert fleet["held"].counters.samples == 4
    assert "held" in fleet.in_memory


def test_listeners_go_on_after_a_time_in_the_store(
    tmp_path: Path, recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("gn", recorded)
    fleet = trimtab.fleet(model, "tent", guard=True, resident=1, store=tmp_path)
    heard: list[int] = []
    fleet["heard"].on_health(lambda health: heard.append(health.samples))
    for name in ("heard", "other", "heard", "other", "heard"):
        fleet.step({name: images[:2]})
    assert heard == [2, 4, 6]


def test_memory_of_streams_that_moved_out_is_freed_at_once(
    tmp_path: Path, recorded: dict[str, Tensor], images: Tensor
) -> None:
    fleet = trimtab.fleet(nets.trained("gn", recorded), "roid", resident=1, store=tmp_path)
    gc.disable()
    try:
        gone = weakref.ref(fleet["a"])
        fleet.step({"a": images[:2]})
        fleet.step({"b": images[:2]})
        assert gone() is None
    finally:
        gc.enable()


def test_streams_of_their_own_kind_come_back_as_such(
    tmp_path: Path, recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("gn", recorded)
    fleet = trimtab.fleet(model, "tent", resident=1, store=tmp_path)
    fleet.open("own", "roid", window=3, lr=1e-4)
    fleet.step({"own": images[:4], "usual": images[4:8]})
    state = fleet["own"].state_dict()
    fleet.flush()
    again = trimtab.fleet(model, "tent", resident=1, store=tmp_path)
    assert len(again) == 2
    assert_same(again["own"].state_dict(), state)
    assert again["own"].window.size == 3


def test_a_stream_that_was_killed_between_its_files_leaves_nothing_to_the_next_of_its_name(
    tmp_path: Path, recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("gn", recorded)
    killed = trimtab.fleet(model, "tent", store=tmp_path)
    killed.open("a", "roid", window=3)
    killed.flush()
    (tmp_path / "a.safetensors").unlink()  # as closing does first
    fleet = trimtab.fleet(model, "tent", store=tmp_path)
    fleet.step({"a": images[:2]})
    state = fleet["a"].state_dict()
    fleet.flush()
    assert_same(trimtab.fleet(model, "tent", store=tmp_path)["a"].state_dict(), state)


def test_a_damaged_file_is_its_streams_error_only(
    tmp_path: Path, recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("gn", recorded)
    fleet = trimtab.fleet(model, "tent", store=tmp_path)
    fleet.step({"a": images[:2], "b": images[2:4]})
    fleet.flush()
    (tmp_path / "a.safetensors").write_bytes(b"no state")
    again = trimtab.fleet(model, "tent", store=tmp_path)
    found = again.step({"a": images[:2], "b": images[2:4]})
    assert isinstance(found["a"], trimtab.StreamError)
    assert "damaged" in str(found["a"])
    assert isinstance(found["b"], Tensor)
    assert "a" in again


def test_streams_that_only_predict_are_not_written_again(
    tmp_path: Path, recorded: dict[str, Tensor], images: Tensor
) -> None:
    fleet = trimtab.fleet(nets.trained("gn", recorded), "tent", resident=1, store=tmp_path)
    fleet.step({"a": images[:2], "b": images[2:4]})
    path = tmp_path / "a.safetensors"
    written = path.stat().st_mtime_ns, path.stat().st_ino
    fleet.step({"a": images[:2], "b": images[2:4]}, predict_only=["a", "b"])
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == written


def test_closing_forgets_a_stream_everywhere(
    tmp_path: Path, recorded: dict[str, Tensor], images: Tensor
) -> None:
    fleet = trimtab.fleet(nets.trained("gn", recorded), "tent", resident=1, store=tmp_path)
    fleet.step({"a": images[:2], "b": images[2:4]})
    for name in ("a", "b"):
        fleet.close(name)
        assert name not in fleet
        with pytest.raises(KeyError, match="no stream"):
            fleet.close(name)
    assert list(tmp_path.iterdir()) == []
    assert fleet["a"].counters.samples == 0


def test_very_many_streams_are_listed_without_being_opened(
    tmp_path: Path, recorded: dict[str, Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(2000):
        (tmp_path / f"cam-{number}.safetensors").touch()
    monkeypatch.setattr(trimtab.core.saved, "read", None)
    fleet = trimtab.fleet(nets.trained("gn", recorded), "tent", resident=4, store=tmp_path)
    assert len(fleet) == 2000
    assert "cam-7" in fleet
    assert fleet.in_memory == []


def test_a_limit_needs_a_store_and_a_stream_at_least(
    tmp_path: Path, recorded: dict[str, Tensor]
) -> None:
    model = nets.trained("gn", recorded)
    with pytest.raises(ValueError, match="needs store="):
        trimtab.fleet(model, "tent", resident=3)
    with pytest.raises(ValueError, match="at least 1 stream"):
        trimtab.fleet(model, "tent", resident=0, store=tmp_path)
    with pytest.raises(ValueError, match=r"resident must be .* whole number"):
        trimtab.fleet(model, "tent", resident="3", store=tmp_path)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="has no store"):
        trimtab.fleet(model, "tent").flush()


def test_the_order_of_opening_decides_nothing(recorded: dict[str, Tensor], images: Tensor) -> None:
    model = nets.trained("gn", recorded)
    fleets = [trimtab.fleet(model, "roid", seed=5) for _ in range(2)]
    for fleet, order in zip(fleets, (["a", "b"], ["b", "a"]), strict=True):
        for name in order:
            fleet.open(name)
    outputs = [fleet.step({"a": images[:2], "b": images[:2]}) for fleet in fleets]
    assert_same(outputs[0], outputs[1])
    assert fleets[0]["a"].seed != fleets[0]["b"].seed
    assert torch.equal(fleets[0]["a"].generator.get_state(), fleets[1]["a"].generator.get_state())
