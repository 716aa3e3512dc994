"""Suites."""

from pathlib import Path

import pytest

import trimtab
from bench.stores import write_suite
from trimtab import models, streams
from trimtab.bench import suite
from trimtab.core.spec import terms


def test_lists_stand_for_each_of_their_values(tmp_path: Path) -> None:
    runs = suite.load(str(write_suite(tmp_path))).runs
    assert len(runs) == 3 * 2 * 2
    assert {spec.label for spec in runs} == {"source", "tent", "roid(lr=0.01)"}


def test_changes_reach_every_run(tmp_path: Path) -> None:
    runs = suite.load(str(write_suite(tmp_path)), {"seed": 7}).runs
    assert len(runs) == 6
    assert {spec.seed for spec in runs} == {7}


def test_an_unknown_suite_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"unknown suite 'quik'.*did you mean 'quick'"):
        suite.load("quik")


def test_a_suite_without_runs_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.toml"
    path.write_text("title = 'nothing'")
    with pytest.raises(ValueError, match="holds no runs"):
        suite.load(str(path))


@pytest.mark.parametrize("name", suite.SUITES)
def test_every_ready_made_run_names_things_that_exist(name: str) -> None:
    for spec in suite.load(name).runs:
        assert all(
            term.name in {**trimtab.METHODS, **trimtab.COMPONENTS} for term in terms(spec.method)
        )
        models.describe(spec.model)
        streams.scenario(spec.scenario)
        assert spec.data in streams.data.DATASETS
