"""A suite that is killed, resumed, spread over processes: always the same results."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench.stores import write_suite
from trimtab import bench
from trimtab.bench.result import RunResult
from trimtab.bench.store import RunStore
from trimtab.cli.main import main

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("suite")]  # which share its results

Outcomes = dict[str, tuple[object, object]]


def command(suite: Path, store: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "trimtab", "bench", str(suite), "--store", str(store), *words]


def outcomes(store: Path) -> Outcomes:
    """What must not depend on how runs were done: all but time and memory."""

    def outcome(result: RunResult) -> tuple[object, object]:
        assert result.cost is not None, result.error
        return result.scores, (result.cost.forwards, result.cost.backwards, result.cost.updates)

    return {result.spec.id: outcome(result) for result in RunStore(store)}


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_suite(tmp_path_factory.mktemp("suite"))


@pytest.fixture(scope="module")
def whole(suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """All of the suite, done here and uninterrupted."""
    store = tmp_path_factory.mktemp("whole")
    bench.run_suite(str(suite), store)
    found = outcomes(store)
    assert len(found) == 12
    return found


def test_a_killed_suite_goes_on_and_ends_like_an_uninterrupted_one(
    suite: Path, whole: Outcomes, tmp_path: Path
) -> None:
    process = subprocess.Popen(
        command(suite, tmp_path, "--workers", "2"),
        start_new_session=True,
        stdout=subprocess.PIPE,
    )
    while len(RunStore(tmp_path)) < 2:
        time.sleep(0.02)
        assert process.poll() is None, "the suite ended before it could be killed"
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()  # ends when all that could write there are dead, and their locks gone
    survived = {path: path.read_bytes() for path in (tmp_path / "runs").glob("*.json")}
    assert 2 <= len(survived) < 12

    assert main(["bench", str(suite), "--store", str(tmp_path), "--workers", "1"]) == 0
    assert outcomes(tmp_path) == whole
    assert all(path.read_bytes() == content for path, content in survived.items())


def test_a_failed_run_is_recorded_and_does_not_stop_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_suite(tmp_path)
    path.write_text(path.read_text().replace('"tent"', '"tentt"'))
    words = ["bench", str(path), "--store", str(tmp_path / "store"), "--workers", "1"]
    assert main([*words, "--set", "seed=0", "--only", "mixed"]) == 1
    assert "did you mean 'tent'" in capsys.readouterr().out
    statuses = [result.status for result in RunStore(tmp_path / "store")]
    assert sorted(statuses) == ["done", "done", "failed"]


@pytest.mark.parametrize(
    "words", [["--workers", "2"], ["--ray", "local"]], ids=["processes", "ray"]
)
def test_processes_and_a_ray_cluster_give_the_results_of_one_process(
    words: tuple[str, ...], suite: Path, whole: Outcomes, tmp_path: Path
) -> None:
    few = ["--only", "mixed", "--only", '"seed":0']
    subprocess.run(command(suite, tmp_path, *words, *few), check=True, timeout=300)
    found = outcomes(tmp_path)
    assert len(found) == 3
    assert found == {run: whole[run] for run in found}
