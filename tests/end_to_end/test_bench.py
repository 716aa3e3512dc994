"""A suite that is killed, resumed, spread over processes: always the same results."""

import contextlib
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
    path, nowhere = write_suite(tmp_path), "single(domain='nowhere')"
    path.write_text(path.read_text().replace('["continual", "mixed"]', f'["mixed", "{nowhere}"]'))
    words = ["bench", str(path), "--store", str(tmp_path / "store"), "--workers", "1"]
    assert main([*words, "--set", "seed=0"]) == 1
    assert "unknown domain 'nowhere'" in capsys.readouterr().out
    statuses = [result.status for result in RunStore(tmp_path / "store")]
    assert sorted(statuses) == ["done"] * 3 + ["failed"] * 3


def test_a_killed_worker_is_marked_and_the_others_go_on(suite: Path, tmp_path: Path) -> None:
    # Runs of about half a second: a worker has to be found while it is at one.
    few = ["--only", "mixed", "--set", "seed=0", "--set", "images_per_domain=16"]
    process = subprocess.Popen(
        command(suite, tmp_path, "--workers", "2", *few), stdout=subprocess.PIPE, text=True
    )
    while not any(killed_at_work(path, tmp_path) for path in tmp_path.glob("claims/*")):
        time.sleep(0.02)
        assert process.poll() is None, "the suite ended before a worker could be killed"
    shown, _ = process.communicate(timeout=300)
    assert process.returncode == 1
    assert "its process was killed before the run was done" in shown
    statuses = [result.status for result in RunStore(tmp_path)]
    assert sorted(statuses) == ["done", "done", "failed"]
    assert main(["bench", str(suite), "--store", str(tmp_path), "--workers", "1", *few]) == 0
    assert all(result.status == "done" for result in RunStore(tmp_path))


def killed_at_work(claim: Path, store: Path) -> bool:
    """Kill the process that works on a run, unless it has finished that run meanwhile."""
    for worker in held(claim):
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, signal.SIGSTOP)  # it cannot finish while we look
            at_work = worker in held(claim) and not (store / "runs" / f"{claim.name}.json").exists()
            os.kill(worker, signal.SIGKILL if at_work else signal.SIGCONT)
            if at_work:
                return True
    return False


def held(path: Path) -> list[int]:
    """Processes that have the file open."""
    found = []
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            if link.readlink() == path:
                found.append(int(link.parts[2]))
    return found


FEW = ["--only", "mixed", "--only", '"seed":0']


def test_processes_give_the_results_of_one_process(
    suite: Path, whole: Outcomes, tmp_path: Path
) -> None:
    assert main(["bench", str(suite), "--store", str(tmp_path), "--workers", "2", *FEW]) == 0
    expect_three_of(whole, outcomes(tmp_path))


def test_a_ray_cluster_gives_the_results_of_one_process(
    suite: Path, whole: Outcomes, tmp_path: Path
) -> None:
    subprocess.run(command(suite, tmp_path, "--ray", "local", *FEW), check=True, timeout=300)
    expect_three_of(whole, outcomes(tmp_path))


def expect_three_of(whole: Outcomes, found: Outcomes) -> None:
    assert len(found) == 3
    assert found == {run: whole[run] for run in found}
