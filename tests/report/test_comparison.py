"""Two stores side by side."""

from dataclasses import replace

import pytest

from report import stores
from trimtab.report.comparison import compare


def test_equal_stores_have_changed_nowhere() -> None:
    runs = stores.three_methods()
    found = compare(runs, runs)
    assert len(found.changes) == 6
    assert all(change.difference == 0 for change in found.changes)
    assert found.worse == []
    assert (found.only_before, found.only_after) == (0, 0)


def test_a_rise_of_the_error_is_a_change_for_the_worse_and_comes_first() -> None:
    earlier = stores.three_methods([0])
    later = [stores.done(run.spec, 0.23) if run.spec.label == "roid" else run for run in earlier]
    first, *_ = compare(earlier, later).changes
    assert first.row.label == "ROID"
    assert first.difference == pytest.approx(3.0)
    assert first.worse
    assert first.exceeds(2.9)
    assert not first.exceeds(3.0)


def test_only_seeds_that_both_stores_have_are_compared() -> None:
    earlier = [stores.done(stores.spec(seed=seed), 0.2) for seed in (0, 1)]
    later = [stores.done(stores.spec(seed=seed), 0.2 + seed) for seed in (1, 2)]
    (change,) = (found := compare(earlier, later)).changes
    assert change.after == pytest.approx(120)
    assert (found.only_before, found.only_after) == (1, 1)


def test_other_weights_are_matched_and_named() -> None:
    earlier = [stores.done(stores.spec(weights="old"), 0.2)]
    (change,) = compare(earlier, [stores.done(stores.spec(), 0.1)]).changes
    assert change.other_weights
    assert change.difference == pytest.approx(-10)


def test_equal_weights_win_over_other_ones() -> None:
    earlier = [stores.done(stores.spec(), 0.2), stores.done(stores.spec(weights="old"), 0.9)]
    (change,) = compare(earlier, [stores.done(stores.spec(), 0.2)]).changes
    assert not change.other_weights


def test_nothing_is_guessed_between_two_sets_of_weights() -> None:
    earlier = [stores.done(stores.spec(weights=name), 0.2) for name in ("old", "older")]
    assert compare(earlier, [stores.done(stores.spec(), 0.2)]).changes == ()


def test_other_options_are_another_run() -> None:
    earlier = [stores.done(replace(stores.spec(), options={"lr": 1}), 0.2)]
    assert compare(earlier, [stores.done(stores.spec(), 0.2)]).changes == ()


def test_a_run_that_fails_where_it_did_not_is_worse_whatever_is_allowed() -> None:
    (change,) = compare([stores.done(stores.spec(), 0.2)], [stores.failed(stores.spec())]).changes
    assert change.newly_failed == 1
    assert change.difference is None
    assert change.exceeds(100)
