"""The number of the last request learned from goes where the state goes."""

from pathlib import Path

import pytest
from torch import Tensor

import trimtab
from reference import nets


@pytest.fixture
def adapter(recorded: dict[str, Tensor], images: Tensor) -> trimtab.Adapter:
    adapter = trimtab.adapt(nets.trained("gn", recorded), "tent + periodic_reset(every=3)")
    adapter(images[:4])
    adapter.state.learned_through = 7
    return adapter


def test_it_is_saved_and_restored(adapter: trimtab.Adapter, tmp_path: Path) -> None:
    adapter.save(tmp_path / "state")
    adapter.state.learned_through = 8
    adapter.load(tmp_path / "state")
    assert adapter.state.learned_through == 7
    assert trimtab.read_manifest(tmp_path / "state")["learned_through"] == 7


def test_it_goes_with_a_clone(adapter: trimtab.Adapter) -> None:
    assert adapter.clone().state.learned_through == 7


def test_a_reset_forgets_what_was_learned_but_not_which_requests_came(
    adapter: trimtab.Adapter,
) -> None:
    adapter.reset()
    assert adapter.state.learned_through == 7


def test_a_rollback_does_not_make_requests_be_learned_from_again(
    adapter: trimtab.Adapter, images: Tensor
) -> None:
    adapter.snapshot("before")
    adapter(images[:4])
    adapter.state.learned_through = 8
    adapter.rollback("before")
    assert adapter.state.learned_through == 8


def test_neither_does_a_reset_on_the_way(adapter: trimtab.Adapter, images: Tensor) -> None:
    for _ in range(3):
        adapter(images[:4])
    assert adapter.counters.resets == 1
    assert adapter.state.learned_through == 7


def test_a_number_from_before_the_first_batch_stays(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    adapter = trimtab.adapt(nets.trained("gn", recorded), "tent")
    adapter.state.learned_through = 3
    adapter(images[:4])
    assert adapter.state.learned_through == 3
