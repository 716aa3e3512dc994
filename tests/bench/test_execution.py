"""Suites from Python."""

import fcntl
import io
import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest
from rich.console import Console

from bench.stores import tiny_spec
from trimtab import bench
from trimtab.bench import suite
from trimtab.bench.plan import longest_first, with_fingerprints
from trimtab.bench.pool import Killed, in_processes, most_fitting

SMALL = {"images_per_domain": 1, "batch_size": 8, "seed": 0}
SUITE = """
title = "Small"

[[grid]]
data = "fashion_mnist"
scenario = "mixed"
model = "fashion_resnet20_gn"
method = ["source", "lame", { name = "eata", source_data = "source" }]
"""


def write(path: Path) -> str:
    path.write_text(SUITE)
    return str(path)


@pytest.fixture
def small(tmp_path: Path) -> str:
    return write(tmp_path / "small.toml")


@pytest.mark.slow
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
    assert [result.status for result in results] == ["done", "done", "done"]
    assert results[1] == first[0]


def test_an_unknown_name_is_found_before_the_first_run(small: str, tmp_path: Path) -> None:
    file = Path(small)
    file.write_text(file.read_text().replace('"lame"', '"lamee"'))
    with pytest.raises(ValueError, match=r"small.toml: method lamee: .*did you mean 'lame'"):
        bench.run_suite(small, tmp_path / "store", changes=SMALL)
    for field, wrong in {"model": "vit", "data": "nist", "scenario": "mixd"}.items():
        with pytest.raises(ValueError, match=rf"small.toml: {field} {wrong}: unknown"):
            bench.run_suite(write(file), tmp_path / "store", changes={field: wrong})
    assert len(bench.RunStore(tmp_path / "store")) == 0


def test_what_no_run_has_in_its_spec_is_named(small: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no run of .*small.toml has tent in its spec"):
        bench.run_suite(small, tmp_path / "store", only=["tent"])
    with pytest.raises(ValueError, match="a Suite has its runs already"):
        bench.run_suite(suite.load(small), tmp_path / "store", changes=SMALL)


def test_a_run_that_another_process_holds_is_left_to_it(tmp_path: Path) -> None:
    [spec] = with_fingerprints([tiny_spec()])
    paper = io.StringIO()
    with bench.RunStore(tmp_path).claim(spec) as mine:
        assert mine
        assert bench.run_specs([spec], tmp_path, console=Console(file=paper, width=100)) == []
    assert "runs: 1 run\n" in paper.getvalue()
    assert "1 run to do: all of them claimed or done by another process" in paper.getvalue()


def test_titles_and_names_may_hold_markup(tmp_path: Path) -> None:
    paper = io.StringIO()
    bench.run_specs(
        [tiny_spec(images_per_domain=1)],
        tmp_path / "[red]" / "[",
        title="[/b] :smile:",
        console=Console(file=paper, width=100),
    )
    assert "[/b] :smile:: 1 run\n" in paper.getvalue()


def test_dear_runs_come_first() -> None:
    methods = ["source", "roid", "bn1", "trimtab", "tent"]
    specs = [tiny_spec(method=method) for method in methods]
    specs.append(tiny_spec(images_per_domain=9))
    ordered = [(spec.method, spec.images_per_domain) for spec in longest_first(specs)]
    assert ordered[0] == ("source", 9)
    assert [method for method, _ in ordered[1:4]] == ["trimtab", "roid", "tent"]


def kill_itself(job: int) -> int:
    if job == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return -job


@pytest.mark.slow
def test_a_process_that_is_killed_ends_its_own_job_alone() -> None:
    outcomes = dict(in_processes(kill_itself, [1, 2, 3, 4], 2))
    assert outcomes == {1: -1, 2: Killed.KILLED, 3: -3, 4: -4}


def test_a_pool_gives_each_job_with_its_result() -> None:
    assert dict(in_processes(abs, [-3, 2, -1], 2)) == {-3: 3, 2: 2, -1: 1}
    with pytest.raises(ZeroDivisionError):
        list(in_processes((1).__floordiv__, [0], 1))


def test_a_process_goes_on_with_the_network_and_stream_that_it_knows() -> None:
    jobs = [("gn", "mixed"), ("bn", "mixed"), ("bn", "continual"), ("gn", "continual")]
    assert most_fitting(jobs, (), []) == 0  # the longest
    assert most_fitting(jobs, (), [("gn", "mixed")]) == 1
    assert most_fitting(jobs, ("bn", "continual"), [("gn", "mixed")]) == 2
    assert most_fitting(jobs[:2], ("bn", "continual"), [("gn", "mixed")]) == 1
    assert most_fitting([jobs[0], jobs[3]], ("bn", "continual"), [("gn", "mixed")]) == 1


def _die(path: str) -> None:
    Path(path).write_text(str(os.getpid()))
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_a_killed_process_is_gone_with_its_locks_when_its_end_is_told(tmp_path: Path) -> None:
    path = tmp_path / "process"
    for _, result in in_processes(_die, [str(path)], 1):
        assert result is Killed.KILLED
        with pytest.raises(ProcessLookupError):
            os.kill(int(path.read_text()), 0)


def _hold(path: str) -> None:
    """Lock a file, say so in it, and go on for longer than any test waits."""
    with Path(path).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        held.write("locked")
        held.flush()
        time.sleep(300)


def _wait_for(path: str) -> None:
    list(in_processes(_hold, [path], 1))


def _is_free(path: Path) -> bool:
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@pytest.mark.slow
def test_processes_end_with_the_one_that_wants_their_results(tmp_path: Path) -> None:
    path = tmp_path / "held"
    path.touch()
    parent = multiprocessing.get_context("spawn").Process(target=_wait_for, args=(str(path),))
    parent.start()
    until = time.monotonic() + 60
    while not path.read_text() and time.monotonic() < until:
        time.sleep(0.05)
    assert not _is_free(path)
    parent.kill()
    parent.join()
    while not _is_free(path) and time.monotonic() < until:
        time.sleep(0.05)
    assert _is_free(path)
