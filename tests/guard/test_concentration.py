"""A collapse is told from a run of few classes by what the source model says."""

import torch
from torch import Tensor

from trimtab.core.guard import concentration
from trimtab.core.guard.look import COLUMNS

CLASSES = 10


def rows(own: Tensor, source: Tensor) -> Tensor:
    made = torch.zeros(len(own), len(COLUMNS))
    made[:, COLUMNS.index("class")] = own.float()
    made[:, COLUMNS.index("source_class")] = source.float()
    return made


def drawn(count: int, seed: int) -> Tensor:
    return torch.randint(CLASSES, (count,), generator=torch.Generator().manual_seed(seed))


def collapsing(count: int, seed: int) -> Tensor:
    """Every third sample that is of another class is said to be of class 4."""
    source = drawn(count, seed)
    own = source.clone()
    own[::3] = 4
    return rows(own, source)


def test_a_collapse_flows_into_its_favourite() -> None:
    flow = concentration.flows(collapsing(64, 1), collapsing(128, 2), CLASSES)
    assert flow.mean() > 0.1


def test_a_run_of_one_class_is_no_collapse() -> None:
    unsure = torch.full((192,), 4)
    unsure[::4] = drawn(48, 3)
    run = rows(torch.full((192,), 4), unsure)
    flow = concentration.flows(run[:64], run[64:], CLASSES)
    assert flow.abs().mean() < 0.01


def test_a_model_that_shows_more_classes_than_the_source_is_left_alone() -> None:
    past = collapsing(128, 2)[:, [*range(8), 9, 8]]  # the source is the one that collapses
    assert not concentration.flows(collapsing(64, 1), past, CLASSES).any()


def test_favourites_of_the_past_say_nothing_where_the_present_is_even() -> None:
    source = drawn(2000, 5)
    even = rows(source.roll(7), source)  # disagreement without a favourite
    flow = concentration.flows(even, collapsing(128, 2), CLASSES)
    assert abs(float(flow.mean())) < 0.01
    assert flow.abs().mean() > 0.05


def test_nothing_is_said_before_enough_was_seen() -> None:
    assert not concentration.flows(collapsing(64, 1), collapsing(32, 2), CLASSES).any()


def test_a_batch_of_few_classes_is_odd() -> None:
    earlier = rows(drawn(128, 1), drawn(128, 1))
    one = torch.zeros(64, CLASSES)
    one[:, 3] = 5.0
    all_of_them = torch.nn.functional.one_hot(drawn(64, 4), CLASSES).float()
    assert concentration.shows(one, earlier)
    assert not concentration.shows(all_of_them, earlier)
    assert not concentration.shows(one[:4], earlier)


def in_runs(count: int, run: int, seed: int) -> Tensor:
    """Classes that come in runs, each as often as the others."""
    random, rounds = torch.Generator().manual_seed(seed), count // (run * CLASSES)
    order = torch.cat([torch.randperm(CLASSES, generator=random) for _ in range(rounds)])
    return order.repeat_interleave(run)


def shares(said: Tensor) -> Tensor:
    return torch.bincount(said, minlength=CLASSES) / len(said)


def drift(
    own: Tensor, source: Tensor, past: tuple[Tensor, Tensor], on_purpose: bool = True
) -> Tensor:
    """The drift of looks at 8 samples each, given what was said in the long run before."""
    usual, usual_source = (shares(said) for said in past)
    parts = zip(own.split(8), source.split(8), strict=True)
    found, earlier = [], rows(*past)[:64]
    for said, source_said in parts:
        look = rows(said, source_said)
        found.append(concentration.drift(look, earlier, usual, usual_source, on_purpose))
        earlier = torch.cat([look, earlier])[:64]
    return torch.cat(found)


def sinking(source: Tensor) -> Tensor:
    """Every sixth sample is said to be of class 4 or 7, whatever it shows."""
    own = source.clone()
    own[::12], own[6::12] = 4, 7
    return own


def test_a_slow_collapse_shows_where_classes_come_in_runs() -> None:
    past, now = in_runs(4000, 100, 1), in_runs(2000, 100, 2)
    found = drift(sinking(now), now, (sinking(past), past))
    assert found.mean() > 0.08
    # what was said of the latest samples alone does not show it
    latest = rows(sinking(past), past)[-192:]
    assert concentration.flows(rows(sinking(now), now)[:64], latest, CLASSES).abs().mean() < 0.01


def noisy(truth: Tensor, seed: int) -> Tensor:
    """Four of ten samples are said to be of any class."""
    wrong = torch.rand(len(truth), generator=torch.Generator().manual_seed(seed)) < 0.4
    return torch.where(wrong, drawn(len(truth), seed), truth)


def test_a_method_that_sees_runs_better_than_the_source_does_not_drift() -> None:
    past, now = in_runs(4000, 100, 3) % 6, in_runs(4000, 100, 4) % 6  # four classes come twice
    found = drift(now, noisy(now, 6), (past, noisy(past, 5)))
    assert found.any()
    assert found.mean() < 0.01


def test_a_bias_that_grows_drifts_unless_it_may_be_on_purpose() -> None:
    source = drawn(2000, 11)
    source[::3] = 4  # a biased source, whose favourite grows
    own = source.clone()
    own[1::4] = 4
    past, now = (own[:1000], source[:1000]), (own[1000:], source[1000:])
    assert drift(*now, past, on_purpose=False).mean() > 0.1
    assert drift(*now, past, on_purpose=True).mean() < 0.01


def test_a_model_that_shows_more_classes_in_the_long_run_does_not_drift() -> None:
    past, now = drawn(1000, 7), drawn(400, 8)
    assert not drift(now, sinking(now), (past, sinking(past))).any()


def test_a_stream_of_few_classes_does_not_drift() -> None:
    now = drawn(800, 9) % 2
    assert not drift(torch.zeros_like(now), now, (torch.zeros_like(now), now)).any()


def test_nothing_drifts_before_anything_was_compared() -> None:
    nothing = torch.zeros(0)
    found = concentration.drift(collapsing(16, 1), collapsing(0, 2), nothing, nothing)
    assert not found.any()
