"""A collapse is told from a run of few classes by what the source model says."""

import torch
from torch import Tensor

from trimtab.core import concentration
from trimtab.core.look import COLUMNS

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
