"""mIoU in the report: larger is better there, and tables of classifiers do not have it."""

import json

from report import stores
from trimtab.bench.result import RunResult
from trimtab.report import formats
from trimtab.report.metrics import DOMAIN_MIOU, ERROR, METRICS, MIOU
from trimtab.report.page import page
from trimtab.report.reading import mean_readings, readings
from trimtab.report.table import tables


def run(method: str, error: float, miou: float, scenario: str = "continual") -> RunResult:
    mious = {"fog": miou - 0.1, "snow": miou + 0.2}
    return stores.done(stores.spec(method, scenario=scenario), error, miou=miou, mious=mious)


RUNS = [
    run("source", 0.5, 0.3),
    run("tent", 0.4, 0.35),
    run("roid", 0.45, 0.25),
    run("source", 0.5, 0.3, "mixed"),
    run("tent", 0.4, 0.35, "mixed"),
    run("roid", 0.45, 0.25, "mixed"),
]


def test_the_largest_miou_is_the_best_and_a_smaller_one_than_the_sources_is_worse() -> None:
    (table,) = tables(RUNS)
    for found in (
        {row.label: r for (row, s), r in readings(table, MIOU).items() if s.scenario == "mixed"},
        {row.label: reading for row, reading in mean_readings(table, MIOU).items()},
    ):
        shown = {label: (r.text, r.best, r.worse) for label, r in found.items()}
        assert shown == {
            "Source": ("30.0", False, False),
            "TENT": ("35.0", True, False),
            "ROID": ("25.0", False, True),
        }


def test_domains_count_once() -> None:
    (table,) = tables(RUNS[:3])
    texts = [reading.text for reading in readings(table, DOMAIN_MIOU).values()]
    assert texts == ["35.0", "40.0", "30.0"]


def test_tables_have_the_numbers_that_their_runs_have() -> None:
    (table,) = tables(RUNS)
    assert MIOU in table.metrics
    (plain,) = tables([stores.done(stores.spec("tent"), 0.4)])
    assert plain.metrics == METRICS
    assert "mIoU" in page(RUNS, "scenes")
    assert "mIoU" not in page([stores.done(stores.spec("tent"), 0.4)], "images")


def test_formats_for_programs_hold_it() -> None:
    values = json.loads(formats.write("json", tables(RUNS), ERROR, None))
    cells = values["cells"] if isinstance(values, dict) else values
    assert sorted({cell["miou"] for cell in cells}) == [25.0, 30.0, 35.0]
    assert "miou" in formats.write("csv", tables(RUNS), ERROR, None).splitlines()[0]


def test_a_result_with_it_can_be_read_again() -> None:
    assert RunResult.from_json(RUNS[0].to_json()).scores == RUNS[0].scores
