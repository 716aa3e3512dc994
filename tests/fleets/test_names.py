"""Stream names: which there may be, and the seeds and files that follow from them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

import trimtab
from reference import nets
from same import assert_same
from trimtab.fleets.names import check, file_stem, name_of, seed_of


@pytest.mark.slow
@given(st.text(min_size=1))
def test_a_files_name_leads_back_to_the_streams_and_nowhere_else(name: str) -> None:
    stem = file_stem(name)
    assert name_of(stem) == name
    assert set(stem) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_")


@given(st.text())
def test_names_of_other_files_are_no_streams(stem: str) -> None:
    name = name_of(stem)
    assert name is None or file_stem(name) == stem


def test_batches_without_names_are_refused_and_a_fleet_says_how_many_it_has(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    fleet = trimtab.fleet(nets.trained("gn", recorded), "tent")
    with pytest.raises(ValueError, match="mapping by the streams' names, got list"):
        fleet.step([images[:4], images[4:8]])  # type: ignore[arg-type]
    assert repr(fleet) == "<Fleet: 0 streams on Net, 0 in memory>"
    fleet.step({"left": images[:4], "right": images[4:8]})
    assert repr(fleet) == "<Fleet: 2 streams on Net, 2 in memory>"


@pytest.mark.parametrize("name", ["", None, 3, b"x", "x" * 201, "ü" * 34])
def test_what_cannot_name_a_stream_is_refused(name: object, recorded: dict[str, Tensor]) -> None:
    with pytest.raises(ValueError, match="a stream's name"):
        check(name)  # type: ignore[arg-type]
    fleet = trimtab.fleet(nets.trained("gn", recorded), "tent")
    with pytest.raises(ValueError, match="a stream's name"):
        fleet.open(name)  # type: ignore[arg-type]
    assert len(fleet) == 0


def test_seeds_follow_from_the_name_and_the_fleets_seed_alone() -> None:
    assert seed_of("cam-1", 0) == 566802032747294791
    assert len({seed_of(name, seed) for name in ("a", "b", "A") for seed in (0, 1)}) == 6


def test_no_name_leads_out_of_the_store(
    tmp_path: Path, recorded: dict[str, Tensor], images: Tensor
) -> None:
    store = tmp_path / "here" / "store"
    fleet = trimtab.fleet(nets.trained("gn", recorded), "tent", store=store, resident=1)
    names = ["../out", "/tmp/absolute", "..", ".", "a/b", "a\\b", "nul\0", "C:", "~", "A", "a"]
    for name in names:
        fleet.step({name: images[:2]})
    fleet.flush()
    assert len(list(store.iterdir())) == len(names)
    assert list(tmp_path.rglob("*.safetensors")) == list(store.rglob("*.safetensors"))
    assert list(trimtab.fleet(nets.trained("gn", recorded), "tent", store=store)) == sorted(names)


@pytest.mark.parametrize("names", [["lfet"], "left"])
def test_streams_that_are_to_predict_only_are_known_or_nobody_learns(
    names: object, recorded: dict[str, Tensor], images: Tensor
) -> None:
    fleet = trimtab.fleet(nets.trained("gn", recorded), "tent")
    fleet.step({"left": images[:4]})
    before = fleet["left"].state_dict()
    with pytest.raises(ValueError, match=r"predict_only must .*, got"):
        fleet.step({"right": images[:4]}, predict_only=names)  # type: ignore[arg-type]
    assert "right" not in fleet
    assert_same(before, fleet["left"].state_dict())
    fleet.step({"right": images[:4]}, predict_only=["left"])  # a stream without a batch now


def test_names_that_are_told_only_once_are_heard(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    fleet = trimtab.fleet(nets.trained("gn", recorded), "tent")
    fleet.step({"left": images[:4], "right": images[:4]}, predict_only=iter(["left"]))
    assert [fleet[name].counters.samples for name in ("left", "right")] == [0, 4]


@pytest.mark.parametrize("names", [None, 5, [1], [["left"]]])
def test_what_is_no_collection_of_names_is_refused(
    names: object, recorded: dict[str, Tensor], images: Tensor
) -> None:
    fleet = trimtab.fleet(nets.trained("gn", recorded), "tent")
    with pytest.raises(ValueError, match="predict_only must"):
        fleet.step({"left": images[:4]}, predict_only=names)  # type: ignore[arg-type]
    assert list(fleet) == []


def test_what_is_no_name_is_its_streams_error_only(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    fleet = trimtab.fleet(nets.trained("gn", recorded), "tent")
    found = fleet.step({7: images[:4], "left": images[:4]})  # type: ignore[dict-item]
    assert isinstance(found["left"], Tensor)
    assert "a stream's name must be a string" in str(found[7])  # type: ignore[index]
