"""What a cell says, mark by mark."""

from report import stores
from trimtab.bench.result import RunResult
from trimtab.report.metrics import COST, DOMAIN_ERROR, ERROR, Metric
from trimtab.report.reading import Reading, mean_readings, readings
from trimtab.report.table import tables


def read(results: list[RunResult], metric: Metric = ERROR) -> dict[tuple[str, str], Reading]:
    (table,) = tables(results)
    found = readings(table, metric)
    return {(row.label, setting.scenario): reading for (row, setting), reading in found.items()}


def test_numbers_have_one_decimal() -> None:
    found = read(stores.three_methods())
    assert found["ROID", "continual"].text == "20.5"
    assert found["ROID", "continual"].spread == "0.7"


def test_worse_than_the_source_is_marked_with_a_sign() -> None:
    found = read(stores.three_methods())
    assert found["TENT", "mixed"].worse
    assert found["TENT", "mixed"].marks == "▲"
    assert not found["TENT", "continual"].worse
    assert not found["Source", "mixed"].worse


def test_the_source_error_of_the_same_samples_decides_without_a_row_of_the_source() -> None:
    found = read([stores.done(stores.spec("tent"), 0.3, source_error=0.25)])
    assert found["TENT", "continual"].worse


def test_what_reads_as_equal_is_not_called_worse() -> None:
    found = read([stores.done(stores.spec("tent"), 0.30004, source_error=0.3)])
    assert not found["TENT", "continual"].worse


def test_the_error_by_domain_is_compared_with_the_sources_own_run_of_the_same_seeds() -> None:
    runs = [
        stores.done(stores.spec("source", seed=0), 0.3),
        stores.done(stores.spec("source", seed=1), 0.9),
        stores.done(stores.spec("tent", seed=0), 0.4),
    ]
    assert read(runs, DOMAIN_ERROR)["TENT", "continual"].worse


def test_the_best_of_a_column_is_marked_and_ties_share_it() -> None:
    runs = [stores.done(stores.spec(name), error) for name, error in (("a", 0.2), ("b", 0.20001))]
    runs.append(stores.done(stores.spec("c"), 0.3))
    assert [reading.best for reading in read(runs).values()] == [True, True, False]


def test_one_method_alone_is_not_the_best() -> None:
    (reading,) = read([stores.done(stores.spec(), 0.2)]).values()
    assert not reading.best


def test_other_seeds_than_most_are_marked() -> None:
    runs = [*stores.three_methods(), stores.done(stores.spec("bn1", seed=7), 0.3)]
    found = read(runs)
    assert found["BN-1", "continual"].marks == "*"
    assert not found["ROID", "mixed"].other_seeds


def test_a_seed_that_failed_is_marked_as_failed_and_as_other_seeds() -> None:
    runs = stores.three_methods()
    last = runs.pop()
    found = read([*runs, stores.failed(last.spec)])
    assert found["TENT", "mixed"].marks == "▲*✕"


def test_a_cell_that_failed_altogether_has_no_number() -> None:
    found = read([*stores.three_methods(), stores.failed(stores.spec("sar"))])
    assert found["SAR", "continual"] == Reading("", failed=1)


def test_a_collapse_is_marked() -> None:
    (reading,) = read([stores.done(stores.spec(), 0.2, collapsed=True)]).values()
    assert reading.marks == "∅"


def test_cost_is_not_judged_against_the_source() -> None:
    assert not any(reading.worse for reading in read(stores.three_methods(), COST).values())


def test_means_over_settings_leave_out_methods_that_lack_one() -> None:
    (table,) = tables([*stores.three_methods([0]), stores.done(stores.spec("bn1"), 0.1)])
    found = {row.label: reading for row, reading in mean_readings(table, ERROR).items()}
    assert found == {
        "Source": Reading("45.0"),
        "ROID": Reading("22.5", best=True),
        "TENT": Reading("45.0"),
    }
