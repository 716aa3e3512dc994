"""A fleet is saved whole or not at all, and goes on where it was saved."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from torch import Tensor

import trimtab
from reference import nets
from same import assert_same
from trimtab.fleets.store import Store


def small_fleet(recorded: dict[str, Tensor], images: Tensor, **options: object) -> trimtab.Fleet:
    """Three streams of two methods that have begun."""
    fleet = trimtab.fleet(nets.trained("gn", recorded), "roid", seed=2, **options)  # type: ignore[arg-type]
    fleet.open("own", "tent", window=3)
    fleet.step({name: images[i : i + 2] for i, name in enumerate(("a", "b", "own"))})
    return fleet


@pytest.mark.parametrize("paged", [False, True])
def test_a_saved_fleet_goes_on_exactly(
    paged: bool, tmp_path: Path, recorded: dict[str, Tensor], images: Tensor
) -> None:
    options = {"resident": 1, "store": tmp_path / "store"} if paged else {}
    fleet = small_fleet(recorded, images, **options)
    fleet.save(tmp_path / "saved")
    step = {name: images[8 + i : 10 + i] for i, name in enumerate(("a", "b", "own", "new"))}
    expected = fleet.step(step)
    later = {"resident": 1, "store": tmp_path / "other"} if paged else {}
    again = trimtab.load_fleet(nets.trained("gn", recorded), tmp_path / "saved", **later)  # type: ignore[arg-type]
    assert list(again) == ["a", "b", "own"]
    assert_same(again.step(step), expected)
    for name in fleet:
        assert_same(again[name].state_dict(), fleet[name].state_dict())


def test_saving_again_replaces_all_and_leaves_nothing_behind(
    tmp_path: Path, recorded: dict[str, Tensor], images: Tensor
) -> None:
    fleet = small_fleet(recorded, images)
    fleet.save(tmp_path)
    fleet.close("a")
    fleet.step({"b": images[:2]})
    fleet.save(tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
    again = trimtab.load_fleet(nets.trained("gn", recorded), tmp_path)
    assert list(again) == ["b", "own"]
    assert again["b"].counters.samples == 4


def test_a_failing_save_leaves_the_earlier_one(
    tmp_path: Path, recorded: dict[str, Tensor], images: Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = small_fleet(recorded, images)
    fleet.save(tmp_path)
    before = fleet["b"].state_dict()
    fleet.step({"b": images[:2]})
    write = Store.write

    def fails(self: Store, name: str, *rest: object) -> None:
        if name == "own":
            raise OSError("disk full")
        write(self, name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Store, "write", fails)
    with pytest.raises(OSError, match="disk full"):
        fleet.save(tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
    again = trimtab.load_fleet(nets.trained("gn", recorded), tmp_path)
    assert_same(again["b"].state_dict(), before)


SAVE_FOR_EVER = """
import sys, torch, trimtab
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 4), nn.LayerNorm(4), nn.Linear(4, 3))
fleet = trimtab.fleet(model, "tent")
number = 0
while True:
    number += 1
    fleet.step({f"s{i}": torch.randn(2, 6) for i in range(5)})
    fleet.save(sys.argv[1])
    print(number, flush=True)
"""


@pytest.mark.slow
def test_a_killed_save_leaves_a_whole_fleet(tmp_path: Path) -> None:
    import torch
    from torch import nn

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 4), nn.LayerNorm(4), nn.Linear(4, 3))
    for delay in (0.0, 0.003, 0.011):
        command = [sys.executable, "-c", SAVE_FOR_EVER, str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ) as writer:
            assert writer.stdout is not None
            for _ in range(3):
                writer.stdout.readline()
            time.sleep(delay)
            writer.send_signal(signal.SIGKILL)
        fleet = trimtab.load_fleet(model, tmp_path)
        assert len(fleet) == 5
        assert len({fleet[name].counters.samples for name in fleet}) == 1  # all of one moment


def test_what_is_not_whole_is_refused(
    tmp_path: Path, recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("gn", recorded)
    with pytest.raises(ValueError, match="holds no fleet"):
        trimtab.load_fleet(model, tmp_path)
    small_fleet(recorded, images).save(tmp_path)
    manifest = tmp_path / "fleet.json"
    words = json.loads(manifest.read_text())
    with pytest.raises(ValueError, match="another model"):
        trimtab.load_fleet(nets.trained("bn", recorded), tmp_path)
    with pytest.raises(ValueError, match="another method"):
        trimtab.load_fleet(model, tmp_path, "tent")
    state = tmp_path / words["folder"] / "a.safetensors"
    kept = state.read_bytes()
    state.write_bytes(kept[:-1] + bytes([kept[-1] ^ 1]))
    with pytest.raises(ValueError, match="damaged"):
        trimtab.load_fleet(model, tmp_path)
    state.unlink()
    with pytest.raises(ValueError, match="2 of 3 streams"):
        trimtab.load_fleet(model, tmp_path)
    for damage in ("{", "[]", '{"format": 1}', json.dumps(words | {"folder": "../elsewhere"})):
        manifest.write_text(damage)
        with pytest.raises(ValueError, match=r"damaged|format"):
            trimtab.load_fleet(model, tmp_path)


def test_a_method_that_words_cannot_tell_is_given_again(
    tmp_path: Path, recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("gn", recorded)
    method = trimtab.build("tent", lr=1e-4)
    fleet = trimtab.fleet(model, method)
    fleet.step({"a": images[:2], "b": images[2:4]})
    fleet.save(tmp_path)
    with pytest.raises(ValueError, match="pass the same method again"):
        trimtab.load_fleet(model, tmp_path)
    again = trimtab.load_fleet(model, tmp_path, trimtab.build("tent", lr=1e-4))
    assert_same(again["a"].state_dict(), fleet["a"].state_dict())


def test_a_store_that_is_not_empty_is_no_place_for_a_saved_fleet(
    tmp_path: Path, recorded: dict[str, Tensor], images: Tensor
) -> None:
    fleet = small_fleet(recorded, images, store=tmp_path / "store")
    fleet.save(tmp_path / "saved")
    fleet.flush()
    with pytest.raises(ValueError, match="store must be empty"):
        trimtab.load_fleet(
            nets.trained("gn", recorded), tmp_path / "saved", store=tmp_path / "store"
        )


def test_guards_and_normalisation_are_each_stream_s_as_they_are_alone(
    tmp_path: Path, recorded: dict[str, Tensor], images: Tensor
) -> None:
    model, guard = nets.trained("gn", recorded), trimtab.Guard(cost=0.2)
    pixels = {"normalization": ((0.4, 0.4, 0.4), (0.3, 0.3, 0.3))}
    fleet = trimtab.fleet(model, "roid", guard=guard, **pixels)  # type: ignore[arg-type]
    fleet.open("plain", guard=False)
    found = fleet.step({"watched": images[:8], "plain": images[:8]})
    alone = trimtab.adapt(
        model,
        "roid",
        seed=fleet["watched"].seed,
        guard=guard,
        **pixels,  # type: ignore[arg-type]
    )
    expected = alone(images[:8])
    logits = found["watched"]
    assert isinstance(logits, Tensor)
    assert (logits - expected).abs().max() < 1e-5
    assert fleet["watched"].counters == alone.counters
    assert fleet["plain"].guard is None
    fleet.save(tmp_path)
    again = trimtab.load_fleet(model, tmp_path, **pixels)  # type: ignore[arg-type]
    assert again["watched"].guard == guard
    assert again["plain"].guard is None


def test_a_guard_whose_view_no_file_can_hold_is_refused(recorded: dict[str, Tensor]) -> None:
    with pytest.raises(ValueError, match="leave view=None"):
        trimtab.fleet(nets.trained("gn", recorded), guard=trimtab.Guard(view=Tensor.neg))
