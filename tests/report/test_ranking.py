"""The ranking by the worst setting."""

import pytest

from report import stores
from trimtab.report.ranking import ranking
from trimtab.report.table import tables


def test_methods_are_ranked_by_their_worst_change_against_the_source() -> None:
    (table,) = tables(stores.three_methods())
    best, last = ranking(table)
    assert (best.row.label, last.row.label) == ("ROID", "TENT")
    assert last.worst.scenario == "mixed"
    assert last.changes[last.worst] == pytest.approx(20)
    assert last.mean == pytest.approx(0)
    assert (best.harmed, last.harmed) == (0, 1)


def test_a_method_with_fewer_settings_comes_behind_those_with_all() -> None:
    (table,) = tables([*stores.three_methods(), stores.done(stores.spec("bn1"), 0.01)])
    assert [standing.row.label for standing in ranking(table)] == ["ROID", "TENT", "BN-1"]


def test_methods_without_numbers_are_not_ranked() -> None:
    (table,) = tables([stores.failed(stores.spec())])
    assert ranking(table) == []
