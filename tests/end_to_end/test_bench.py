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
from trimtab.bench.result import RunResult
from trimtab.bench.store import RunStore

pytestmark = pytest.mark.slow

Outcomes = dict[str, tuple[object, object]]


def command(suite: Path, store: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "trimtab", "bench", str(suite), "--store", str(store), *words]


def outcomes(store: Path) -> Outcomes:
    """What must not depend on how runs were done: all but time and memory."""

    def outcome(result: RunResult) -> tuple[object, object]:
        assert result.cost is not None, result.error
        return result.scores, (result.cost.forwards, result.cost.backwards, result.cost.updates)

    return {result.spec.id: outcome(result) for result in RunStore(store)}


def test_a_killed_suite_goes_on_and_ends_like_an_uninterrupted_one(tmp_path: Path) -> None:
    suite = write_suite(tmp_path)
    subprocess.run(command(suite, tmp_path / "whole", "--workers", "1"), check=True, timeout=300)
    whole = outcomes(tmp_path / "whole")
    assert len(whole) == 12

    broken = tmp_path / "broken"
    process = subprocess.Popen(
        command(suite, broken, "--workers", "2"), start_new_session=True, stdout=subprocess.DEVNULL
    )
    while len(RunStore(broken)) < 3:
        time.sleep(0.05)
        assert process.poll() is None, "the suite ended before it could be killed"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    survived = {path: path.read_bytes() for path in (broken / "runs").glob("*.json")}
    assert 3 <= len(survived) < 12

    subprocess.run(command(suite, broken, "--workers", "2"), check=True, timeout=300)
    assert outcomes(broken) == whole
    assert all(path.read_bytes() == content for path, content in survived.items())


def test_a_failed_run_is_recorded_and_does_not_stop_the_others(tmp_path: Path) -> None:
    suite = write_suite(tmp_path)
    nowhere = "single(domain='nowhere')"
    suite.write_text(suite.read_text().replace('["continual", "mixed"]', f'["mixed", "{nowhere}"]'))
    done = subprocess.run(
        command(suite, tmp_path / "store", "--workers", "1", "--set", "seed=0"),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 1
    assert "unknown domain 'nowhere'" in done.stdout
    statuses = [result.status for result in RunStore(tmp_path / "store")]
    assert sorted(statuses) == ["done"] * 3 + ["failed"] * 3


def test_a_killed_worker_is_marked_and_the_others_go_on(tmp_path: Path) -> None:
    suite, store = write_suite(tmp_path), tmp_path / "store"
    process = subprocess.Popen(
        command(suite, store, "--workers", "2"), stdout=subprocess.PIPE, text=True
    )
    claims = store / "claims"
    while not (claims.is_dir() and any(held(path) for path in claims.iterdir())):
        time.sleep(0.02)
        assert process.poll() is None, "the suite ended before a worker could be killed"
    os.kill(next(pid for path in claims.iterdir() for pid in held(path)), signal.SIGKILL)
    shown, _ = process.communicate(timeout=300)
    assert process.returncode == 1
    assert "its process was killed before the run was done" in shown
    results = list(RunStore(store))
    assert sorted(result.status for result in results) == ["done"] * 11 + ["failed"]
    subprocess.run(command(suite, store, "--workers", "1"), check=True, timeout=300)
    assert all(result.status == "done" for result in RunStore(store))


def held(path: Path) -> list[int]:
    """Processes that have the file open."""
    found = []
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            if link.readlink() == path:
                found.append(int(link.parts[2]))
    return found


def test_processes_and_a_ray_cluster_give_the_results_of_one_process(tmp_path: Path) -> None:
    suite = write_suite(tmp_path)
    ways = {"here": ["--workers", "1"], "processes": ["--workers", "2"], "ray": ["--ray", "local"]}
    for name, words in ways.items():
        subprocess.run(
            command(suite, tmp_path / name, *words, "--set", "seed=0"), check=True, timeout=300
        )
    assert len(outcomes(tmp_path / "here")) == 6
    assert outcomes(tmp_path / "here") == outcomes(tmp_path / "processes")
    assert outcomes(tmp_path / "here") == outcomes(tmp_path / "ray")
