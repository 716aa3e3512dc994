"""Learning where it pays: at once where inputs are new, rarely where updates change little."""

from itertools import pairwise
from pathlib import Path

import pytest
import torch
from torch import Tensor

import trimtab
from reference import nets
from trimtab.core import pace
from trimtab.core.novelty import Novelty
from trimtab.core.pace import passes
from trimtab.core.stride import ENOUGH, LONGEST, TOLERATED, Stride, change_between, variety_of

BATCH = 32


@pytest.fixture
def batches() -> list[Tensor]:
    """Three looks of ten batches each: as they are, dark, and rough."""
    images = torch.rand(10 * BATCH, 3, 16, 16, generator=torch.Generator().manual_seed(5))
    smooth = torch.nn.functional.avg_pool2d(images, 3, 1, 1)
    return [batch for look in (smooth, smooth / 4, images) for batch in look.split(BATCH)]


def updates_after_each(adapter: trimtab.Adapter, batches: list[Tensor]) -> list[int]:
    found = [0]
    for batch in batches:
        adapter(batch)
        found.append(adapter.counters.updates)
    return [after - before for before, after in pairwise(found)]


def test_first_batches_of_each_look_are_learned_from_and_later_ones_rarely(
    model: nets.Net, batches: list[Tensor]
) -> None:
    adapter = trimtab.adapt(model, "roid", budget="auto")
    learned = updates_after_each(adapter, batches)
    assert [learned[start] for start in (0, 10, 20)] == [1, 1, 1]
    assert sum(learned) <= 15
    assert passes(adapter.counters) < 2.6 * adapter.counters.samples  # 3.5 and more, always


def test_passes_that_try_what_an_update_has_changed_are_counted(
    model: nets.Net, batches: list[Tensor]
) -> None:
    forwards = {}
    for budget in (None, "auto"):
        adapter = trimtab.adapt(model, "tent", budget=budget)
        adapter(batches[0])
        forwards[budget] = adapter.counters.forward_samples
    assert forwards["auto"] == forwards[None] + 2 * 8


def test_an_update_stands_for_the_batches_since_the_last_one(
    model: nets.Net, batches: list[Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "variety_of", lambda logits: 1.0)
    moved = []
    for waited in (0, 2):
        adapter = trimtab.adapt(model, "tent", optimizer="sgd", lr=1e-3, budget="auto")
        adapter(batches[0])
        adapter.state.pace.stride = Stride(waited + 1, waited, adapter.state.pace.stride.novelty)  # type: ignore[union-attr]
        before = torch.cat([tensor.detach().flatten() for tensor in adapter.params.values()])
        adapter(batches[1])
        after = torch.cat([tensor.detach().flatten() for tensor in adapter.params.values()])
        moved.append(after - before)
        assert adapter.counters.updates == 2  # three moves are one update
    once, thrice = (float(move.norm()) for move in moved)
    assert once > 0
    assert thrice / once > 2.9
    assert torch.nn.functional.cosine_similarity(*moved, dim=0) > 0.99  # type: ignore[arg-type, misc]


def test_a_batch_of_one_class_stands_for_itself_alone() -> None:
    waited = Stride(LONGEST, LONGEST)
    several, one = torch.eye(10).repeat(6, 1), torch.eye(10)[:1].repeat(60, 1)
    assert waited.moves(variety_of(several)) == LONGEST
    assert waited.moves(variety_of(one)) == 1
    assert Stride(LONGEST, 0).moves(1.0) == 1


def test_a_saved_stream_goes_on_exactly(
    model: nets.Net, batches: list[Tensor], tmp_path: Path
) -> None:
    whole, stopped = (trimtab.adapt(model, "roid", budget="auto") for _ in range(2))
    expected = [whole(batch) for batch in batches[:16]]
    for batch in batches[:7]:
        stopped(batch)
    stopped.save(tmp_path / "state")
    resumed = trimtab.adapt(model, "roid", budget="auto")
    resumed.load(tmp_path / "state")
    assert resumed.state.pace == stopped.state.pace
    for batch, logits in zip(batches[7:16], expected[7:], strict=True):
        assert torch.equal(resumed(batch), logits)


def test_streams_of_a_fleet_learn_where_it_pays_as_they_do_alone(
    model: nets.Net, batches: list[Tensor]
) -> None:
    fleet = trimtab.fleet(model, "roid", budget="auto")
    names = ("left", "right")
    together = [fleet.step(dict.fromkeys(names, batch)) for batch in batches[8:13]]
    for name in names:
        alone = trimtab.adapt(model, "roid", budget="auto", seed=fleet[name].seed)
        for batch, logits in zip(batches[8:13], together, strict=True):
            torch.testing.assert_close(logits[name], alone(batch), rtol=1e-4, atol=1e-4)
        assert fleet[name].counters.updates == alone.counters.updates < 5


def test_a_state_of_another_budget_is_refused(model: nets.Net, batches: list[Tensor]) -> None:
    auto, plain = (trimtab.adapt(model, "roid", budget=budget) for budget in ("auto", 1.5))
    auto(batches[0])
    with pytest.raises(ValueError, match="budget=auto"):
        plain.load_state_dict(auto.state_dict())


def test_predictions_that_change_little_make_strides_longer_and_others_shorter() -> None:
    assert Stride(2).after_update(TOLERATED / 2).batches == 4
    assert Stride(4).after_update(TOLERATED * 2).batches == 2
    assert Stride(4).after_update(0.0).batches == LONGEST
    assert Stride(1).after_update(1.0).batches == 1


def test_updates_that_nothing_calls_for_wait_where_passes_were_dear() -> None:
    dear = ENOUGH + 0.1
    routine = Stride(LONGEST, LONGEST)
    assert routine.is_over(ENOUGH)
    assert not routine.is_over(dear)
    assert Stride(LONGEST, 2 * LONGEST).is_over(dear)  # not for ever
    assert Stride(LONGEST - 1, LONGEST - 1).is_over(dear)  # predictions still change
    assert Stride(1, 1).is_over(dear)  # something new


def test_what_changes_no_parameters_learns_from_every_batch(
    model: nets.Net, batches: list[Tensor]
) -> None:
    adapter = trimtab.adapt(model, "memo", budget="auto", views=2)
    learned = updates_after_each(adapter, [batch[:4] for batch in batches[:4]])
    assert all(learned)


def test_change_of_predictions_is_the_probability_that_moved() -> None:
    sure = torch.tensor([[100.0, 0.0], [0.0, 100.0]])
    torch.testing.assert_close(change_between(sure, sure.flip(1)), 1.0)
    assert change_between(sure, sure) == 0
    assert change_between(sure, sure * float("nan")) == 1


@pytest.mark.parametrize("size", [1, 8, 64])
def test_what_is_new_is_seen_at_any_size_of_batches(size: int) -> None:
    random = torch.Generator().manual_seed(0)
    images = torch.rand(512, 1, 8, 8, generator=random)
    looks, new = Novelty(), []
    for part in torch.cat([images, images * 0.5]).split(size):
        looks, is_new = looks.seeing(part)
        new.append(is_new)
    places = [place * size for place, is_new in enumerate(new) if is_new]
    assert len(places) == 2
    assert places[0] < 32 <= 512 - 64 <= places[1] <= 512 + 64


def test_values_that_are_not_finite_leave_finite_looks() -> None:
    odd = torch.full((40, 4), float("nan"))
    odd[::2] = float("inf")
    looks, _ = Novelty().seeing(odd)
    assert all(0 <= value < float("inf") for value in looks.state().values())


def test_words_other_than_auto_are_refused(model: nets.Net) -> None:
    with pytest.raises(ValueError, match='budget must be "auto" or a number'):
        trimtab.adapt(model, "roid", budget="cheap")  # type: ignore[arg-type]
