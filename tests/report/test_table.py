"""Tables: what may stand together, and in which order."""

import statistics

import pytest

from report import stores
from trimtab.report.metrics import DOMAIN_ERROR, ERROR
from trimtab.report.settings import Row, Setting
from trimtab.report.table import complete_rows, tables


def test_a_cell_is_the_mean_over_seeds_in_percent_with_its_standard_deviation() -> None:
    errors = [0.2, 0.25, 0.33]
    runs = [stores.done(stores.spec(seed=seed), error) for seed, error in enumerate(errors)]
    (table,) = tables(runs)
    (cell,) = table.cells.values()
    assert cell.seeds == (0, 1, 2)
    assert cell.mean(ERROR) == pytest.approx(100 * sum(errors) / 3)
    assert cell.spread(ERROR) == pytest.approx(100 * statistics.stdev(errors))


def test_one_seed_has_no_spread() -> None:
    (table,) = tables([stores.done(stores.spec(), 0.2)])
    (cell,) = table.cells.values()
    assert cell.spread(ERROR) is None


def test_both_averages_are_kept_apart() -> None:
    (table,) = tables([stores.done(stores.spec(), 0.2, domain_error=0.3)])
    (cell,) = table.cells.values()
    assert cell.mean(ERROR) == pytest.approx(20)
    assert cell.mean(DOMAIN_ERROR) == pytest.approx(30)


@pytest.mark.parametrize(
    "values",
    [{"images_per_domain": 10}, {"batch_size": 1}, {"severity": 3}, {"window": 16}],
    ids=str,
)
def test_runs_of_another_protocol_get_a_table_of_their_own(values: dict[str, int]) -> None:
    runs = [stores.done(stores.spec(), 0.2), stores.done(stores.spec("tent", **values), 0.3)]
    found = tables(runs)
    assert len(found) == 2
    assert str(found[0].protocol) != str(found[1].protocol)
    assert [len(table.cells) for table in found] == [1, 1]


def test_other_weights_are_another_column_that_says_so() -> None:
    runs = [
        stores.done(stores.spec(), 0.2),
        stores.done(stores.spec("tent", weights="feedbeef00"), 0.3),
    ]
    (table,) = tables(runs)
    assert len(table.settings) == 2
    assert table.several_weights == {"tiny"}


def test_options_make_another_row() -> None:
    runs = [
        stores.done(stores.spec("tent", options={"lr": 0.1}), 0.2),
        stores.done(stores.spec("tent", options={"lr": 0.2}), 0.3),
    ]
    (table,) = tables(runs)
    assert [row.label for row in table.rows] == ["TENT (lr=0.1)", "TENT (lr=0.2)"]


def test_the_source_comes_first_and_then_who_gains_most() -> None:
    (table,) = tables(reversed(stores.three_methods()))
    assert [row.label for row in table.rows] == ["Source", "ROID", "TENT"]


def test_a_method_without_a_number_comes_last() -> None:
    (table,) = tables([*stores.three_methods(), stores.failed(stores.spec("aaa"))])
    assert table.rows[-1].label == "aaa"


def test_a_row_is_complete_if_it_has_every_setting() -> None:
    runs = [*stores.three_methods(), stores.done(stores.spec("bn1"), 0.3)]
    (table,) = tables(runs)
    assert [row.label for row in complete_rows(table)] == ["Source", "ROID", "TENT"]


def test_failed_runs_are_in_the_cell_and_in_no_mean() -> None:
    runs = [stores.done(stores.spec(seed=0), 0.2), stores.failed(stores.spec(seed=1))]
    (table,) = tables(runs)
    cell = table.cells[Row.of(runs[0].spec), Setting.of(runs[0].spec)]
    assert len(cell.failed) == 1
    assert cell.mean(ERROR) == pytest.approx(20)
    assert cell.seeds == (0,)


def test_no_results_make_no_tables() -> None:
    assert tables([]) == []
