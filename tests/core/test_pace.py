"""A stream that learns on fewer batches: when, at what price, and exactly again after a pause."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import trimtab
from reference import nets
from trimtab.core.pace import Pace, passes

BATCH = 8


def follow(adapter: trimtab.Adapter, images: Tensor) -> Tensor:
    return torch.cat([adapter(batch) for batch in images.split(BATCH)])


def updates_after_each_batch(adapter: trimtab.Adapter, images: Tensor) -> list[int]:
    seen = []
    for batch in images.split(BATCH):
        adapter(batch)
        seen.append(adapter.counters.updates)
    return seen


def test_every_kth_batch_is_learned_from_beginning_with_the_first(
    model: nets.Net, images: Tensor
) -> None:
    adapter = trimtab.adapt(model, "roid", adapt_every=3)
    assert updates_after_each_batch(adapter, images[:56]) == [1, 1, 1, 2, 2, 2, 3]


def test_batches_between_are_predicted_by_one_plain_pass_and_corrected(
    model: nets.Net, images: Tensor
) -> None:
    adapter = trimtab.adapt(model, "roid", adapt_every=2)
    adapter(images[:8])
    forwards, backwards = adapter.counters.forward_samples, adapter.counters.backward_samples
    expected = adapter.predict(images[8:16])
    assert torch.equal(adapter(images[8:16]), expected)
    assert adapter.counters.forward_samples == forwards + 8
    assert adapter.counters.backward_samples == backwards


@pytest.mark.parametrize(
    ("method", "budget"),
    [("roid", 1.5), ("roid", 2.5), ("tent", 1.5), ("sar", 2.5), ("adacontrast", 5), ("memo", 2)],
)
def test_a_budget_holds_once_the_first_update_is_paid_for(
    method: str, budget: float, model: nets.Net, images: Tensor
) -> None:
    options: dict[str, Any] = {"views": 2} if method == "memo" else {}
    adapter = trimtab.adapt(model, method, budget=budget, **options)
    adapter.begin((3, 16, 16))  # what a stream costs to begin is not part of it
    begun = passes(adapter.counters)
    paid = False
    for number, batch in enumerate(images.split(BATCH), start=1):
        adapter(batch)
        spent = passes(adapter.counters) - begun
        paid = paid or spent <= budget * number * BATCH
        allowed = budget * number * BATCH if paid else spent
        # the dearest update so far is not always the dearest of all
        assert spent <= allowed + BATCH * adapter.pace.price * 0.5
    assert adapter.counters.updates >= 1


def test_a_budget_is_spent_and_not_only_kept(model: nets.Net, images: Tensor) -> None:
    # a batch saves one pass of the two that an update costs, and the first is made on credit
    adapter = trimtab.adapt(model, "tent", budget=2.0)
    assert updates_after_each_batch(adapter, images[:64]) == [1, 1, 1, 2, 2, 3, 3, 4]


def test_a_budget_of_one_pass_learns_nothing(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "roid", budget=1)
    follow(adapter, images)
    assert adapter.counters.updates == 0
    assert adapter.counters.forward_samples == len(images)


def test_a_generous_budget_changes_nothing(model: nets.Net, images: Tensor) -> None:
    free = follow(trimtab.adapt(model, "roid"), images)
    assert torch.equal(follow(trimtab.adapt(model, "roid", budget=100), images), free)


def test_a_window_takes_its_turn_when_it_is_full(images: Tensor, model: nets.Net) -> None:
    adapter = trimtab.adapt(model, "roid", window=16, adapt_every=2)
    assert updates_after_each_batch(adapter, images[:64]) == [0, 1, 1, 1, 1, 2, 2, 2]


@pytest.mark.parametrize("options", [{"adapt_every": 3}, {"budget": 1.7}])
@pytest.mark.parametrize("stop", [1, 2, 5])
def test_a_stream_goes_on_exactly_where_it_was_saved(
    stop: int, options: dict[str, Any], model: nets.Net, images: Tensor, tmp_path: Path
) -> None:
    whole = trimtab.adapt(model, "roid", **options)
    expected = follow(whole, images)[stop * BATCH :]
    first = trimtab.adapt(model, "roid", **options)
    follow(first, images[: stop * BATCH])
    first.save(tmp_path / "stream.safetensors")
    second = trimtab.adapt(model, "roid", **options)
    second.load(tmp_path / "stream.safetensors")
    assert torch.equal(follow(second, images[stop * BATCH :]), expected)
    assert second.counters == whole.counters
    assert second.pace == whole.pace


def test_a_reset_begins_the_pace_again(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "roid", budget=1.7)
    first = follow(adapter, images)
    adapter.reset()
    assert torch.equal(follow(adapter, images), first)


def test_a_state_of_another_pace_is_refused(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "roid", adapt_every=2)
    adapter(images[:8])
    with pytest.raises(ValueError, match=r"its pace is adapt_every=2, budget=None"):
        trimtab.adapt(model, "roid").load_state_dict(adapter.state_dict())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"adapt_every": 0}, "adapt_every must be at least 1 batch, a whole number, got 0"),
        ({"budget": 0.5}, "budget must be at least 1 plain forward, got 0.5"),
        ({"budget": float("nan")}, "budget must be at least 1 plain forward, got nan"),
    ],
)
def test_a_pace_that_makes_no_sense_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Pace(**options)  # type: ignore[arg-type]
