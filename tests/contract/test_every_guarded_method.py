"""What every method owes its users still holds under a guard, calm or nervous."""

from typing import Any

import pytest
import torch
from torch import Tensor

import trimtab
from contract.recipes import options_of, rotated
from reference import nets
from same import assert_same
from trimtab import Guard

NERVOUS = Guard(false_alarms=0.8, allowed_harm=0.0, cost=1.0)
"""Sees harm where there is none, so that all it can do happens within a few batches."""


@pytest.fixture(params=trimtab.METHODS)
def method(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def start(method: str, recorded: dict[str, Tensor]) -> Any:
    backbone = trimtab.Backbone(nets.trained(rotated(method), recorded))
    options = options_of(method, recorded)
    return lambda guard=NERVOUS, **more: trimtab.adapt(
        backbone, method, guard=guard, **options, **more
    )


def test_going_on_after_a_restore_is_bit_equal(start: Any, images: Tensor, tmp_path: Any) -> None:
    adapter = start()
    batches = images[:40].split(5)
    states, straight = [], []
    for batch in batches:
        states.append(adapter.state_dict())
        straight.append(adapter(batch))
    for position in (2, 5):
        other = start(seed=1)
        other.load_state_dict(states[position])
        for batch, expected in zip(batches[position:], straight[position:], strict=True):
            assert torch.equal(other(batch), expected)
        assert_same(other.state_dict(), adapter.state_dict())
    adapter.save(tmp_path / "end")
    other = start()
    other.load(tmp_path / "end")
    assert_same(other.state_dict(), adapter.state_dict())


def test_predict_changes_nothing_and_says_what_comes(start: Any, images: Tensor) -> None:
    adapter, plain = start(), start(False)
    keeps_word = torch.equal(plain.predict(images[:5]), plain(images[:5]))  # AdaContrast cannot
    for batch in images[:30].split(5):
        before = adapter.state_dict()
        promised = adapter.predict(batch)
        assert_same(adapter.state_dict(), before)
        assert torch.equal(adapter(batch), promised) or not keeps_word


def test_a_guard_that_sees_no_harm_changes_no_prediction(start: Any, images: Tensor) -> None:
    watched, plain = start(Guard(acts=False)), start(False)
    for batch in images[:24].split(8):
        assert torch.equal(watched(batch), plain(batch))
    assert watched.health.looked_at > 0
    assert plain.health.looked_at == 0


def test_an_error_in_a_look_leaves_the_old_state(
    start: Any, images: Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = start()
    adapter(images[:10])
    before = adapter.state_dict()

    def broken(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("trimtab.core.guard.look.Look.rows", broken)
    with pytest.raises(MemoryError):
        adapter(images[10:20])
    assert_same(adapter.state_dict(), before)
