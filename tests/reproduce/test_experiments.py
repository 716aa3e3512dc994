"""Every experiment, from its command to its page, on a tiny configuration."""

import html
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from trimtab import reproduce
from trimtab.bench import runner
from trimtab.bench.store import RunStore
from trimtab.cli.main import main
from trimtab.reproduce import execution
from trimtab.reproduce.execution import all_runs, all_studies, findings
from trimtab.reproduce.experiments import harm
from trimtab.reproduce.setup import Setup, setup_for, small
from trimtab.reproduce.studies import generalization
from trimtab.reproduce.study import Study, StudyStore
from trimtab.streams.corruptions import BENCHMARK
from trimtab.streams.domains import Corrupted
from trimtab.streams.remembered import Remembered
from trimtab.streams.scenario_base import Scenario
from trimtab.streams.stream import Stream

NETWORKS = ("fashion_resnet20_bn", "fashion_resnet20_gn")


def arguments(name: str, store: Path) -> Sequence[str]:
    words = ["reproduce", name, "--quick", "--images", "2", "--batch-size", "16"]
    for network in NETWORKS:
        words += ["--model", network]
    return [*words, "--store", str(store), "--workers", "1"]


def tiny() -> Setup:
    setup = small(setup_for("fashion_mnist", NETWORKS))
    return replace(setup, images_per_domain=2, batch_size=16)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One store for all experiments, so that runs which several share are done once.

    Peaks of memory are there already: each takes a process, and a test of their own has one made.
    """
    folder = tmp_path_factory.mktemp("store")
    for study in reproduce.load("memory").studies(tiny()):
        StudyStore(folder).put(study, {"idle": 1.0, "peak": 512.0, "updates": 1})
    return folder


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Studies without processes of their own, three domains, few source images.

    Tests of the pool and of killed experiments have the processes. Noise and snow, which
    experiments ask for by name, are among the three.
    """
    whole = Scenario.stream

    def of_three(scenario: Scenario, images: Any, **options: Any) -> Stream:
        if isinstance(images, Remembered):
            images = replace(images, names=BENCHMARK[::7])
        return whole(scenario, images, **options)

    def one_by_one(
        work: Callable[[Study], None], jobs: Sequence[Study], workers: int
    ) -> Iterator[tuple[Study, None]]:
        assert workers == 1
        return ((job, work(job)) for job in jobs)

    monkeypatch.setattr(execution, "in_processes", one_by_one)
    monkeypatch.setattr(runner, "SOURCE_IMAGES", 32)
    monkeypatch.setattr(harm, "QUICK_METHODS", ("tent",))
    monkeypatch.setattr(Scenario, "stream", of_three)
    adapted = BENCHMARK[::4]  # those that one is adapted to in a hurry are evaluated on, too
    images = generalization.load_domains("fashion_mnist")
    assert isinstance(images, Corrupted)
    fewer = replace(images, names=adapted)
    monkeypatch.setattr(generalization, "load_domains", lambda data: fewer)


@pytest.mark.slow
@pytest.mark.xdist_group("experiments")  # which share a store, and so runs
@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("name", reproduce.EXPERIMENTS)
def test_an_experiment_runs_makes_its_page_and_is_not_done_twice(
    name: str, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(name, store)) == 0
    experiment = reproduce.load(name)
    page = (store / f"reproduce-{name}.html").read_text()
    assert html.escape(experiment.title) in page
    found = findings(experiment, tiny(), str(store))
    assert len(found.results) == len(all_runs([experiment], tiny()))
    assert len(found.records) == len(all_studies([experiment], tiny()))
    analysis = experiment.analyse(found)
    assert analysis.claims, "an experiment that claims nothing"
    for claim in analysis.claims:
        assert claim.holds is not None or claim.close, claim.text
        assert html.escape(claim.text) in page
    assert analysis.tables or analysis.figures
    kept = {path: path.stat().st_mtime_ns for path in store.glob("*/*.json")}
    capsys.readouterr()
    assert main(arguments(name, store)) == 0
    assert {path: path.stat().st_mtime_ns for path in store.glob("*/*.json")} == kept


@pytest.mark.parametrize("name", reproduce.EXPERIMENTS)
def test_an_experiment_that_was_not_run_says_that_nothing_was_checked(
    name: str, tmp_path: Path
) -> None:
    experiment = reproduce.load(name)
    analysis = experiment.analyse(findings(experiment, tiny(), str(tmp_path)))
    assert all(claim.holds is None for claim in analysis.claims)


def test_claims_are_all_experiments_at_once(tmp_path: Path) -> None:
    experiments = [reproduce.load(name) for name in reproduce.NAMES]
    specs = all_runs(experiments, tiny())
    assert len({spec.id for spec in specs}) == len(specs)
    assert len(specs) < sum(len(all_runs([e], tiny())) for e in experiments), "none is shared"
    assert len(RunStore(tmp_path)) == 0
