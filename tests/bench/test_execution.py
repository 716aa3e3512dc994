"""Suites from Python."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from bench.stores import tiny_spec
from trimtab import bench
from trimtab.bench import suite
from trimtab.bench.pool import in_processes

SMALL = {"images_per_domain": 1, "batch_size": 8, "seed": 0}
SUITE = """
title = "Small"

[[grid]]
data = "fashion_mnist"
scenario = "mixed"
model = "fashion_resnet20_gn"
method = ["source", "lame", "roit"]
"""


@pytest.fixture
def small(tmp_path: Path) -> str:
    path = tmp_path / "small.toml"
    path.write_text(SUITE)
    return str(path)


def test_a_suite_returns_all_results_and_does_none_twice(small: str, tmp_path: Path) -> None:
    store = tmp_path / "store"
    first = bench.run_suite(small, store, changes=SMALL, only=["lame"])
    assert [result.spec.method for result in first] == ["lame"]
    assert first[0].scores is not None
    assert first[0].scores.samples == 15
    paper = io.StringIO()
    console = Console(file=paper, width=100)
    results = bench.run_suite(suite.load(small, SMALL), store, console=console)
    assert "Small: 3 runs, 1 of them done already" in paper.getvalue()
    assert [result.status for result in results] == ["done", "done", "failed"]
    assert results[1] == first[0]
    assert results[2].error is not None
    assert "did you mean 'roid'" in results[2].error


def test_what_no_run_has_in_its_spec_is_named(small: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no run of .*small.toml has tent in its spec"):
        bench.run_suite(small, tmp_path / "store", only=["tent"])
    with pytest.raises(ValueError, match="a Suite has its runs already"):
        bench.run_suite(suite.load(small), tmp_path / "store", changes=SMALL)


def test_a_run_that_another_process_holds_is_left_to_it(tmp_path: Path) -> None:
    [spec] = bench.execution.with_fingerprints([tiny_spec()])
    with bench.RunStore(tmp_path).claim(spec) as mine:
        assert mine
        assert bench.run_specs([spec], tmp_path) == []


def test_a_pool_gives_each_job_with_its_result() -> None:
    assert dict(in_processes(abs, [-3, 2, -1], 2)) == {-3: 3, 2: 2, -1: 1}
    with pytest.raises(ZeroDivisionError):
        list(in_processes((1).__floordiv__, [0], 1))
