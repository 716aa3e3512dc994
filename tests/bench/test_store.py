"""Results on disk."""

import json
import multiprocessing
from dataclasses import replace
from pathlib import Path

import pytest

from bench.stores import tiny_spec
from trimtab.bench.result import RunResult
from trimtab.bench.runner import run
from trimtab.bench.store import RunStore


def failed(seed: int = 0) -> RunResult:
    return RunResult(tiny_spec(seed=seed), "failed", "2026-01-01T00:00:00Z", 1.0, error="no")


def test_results_survive_the_disk(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    store.put(failed())
    assert store.get(tiny_spec()) == failed()
    assert list(RunStore(tmp_path)) == [failed()]


def test_a_result_without_classes_along_the_stream_still_reads(tmp_path: Path) -> None:
    result = run(tiny_spec(images_per_domain=4))
    values = json.loads(result.to_json())
    assert len(values["scores"].pop("predicted_along")) == 60
    RunStore(tmp_path).put(result)
    (tmp_path / "runs" / f"{result.spec.id}.json").write_text(json.dumps(values))
    (older,) = RunStore(tmp_path)
    assert older.scores is not None
    assert result.scores is not None
    assert older.scores == replace(result.scores, predicted_along=[])


def test_a_failed_run_is_not_done(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    store.put(failed())
    assert not store.has(tiny_spec())
    assert store.get(tiny_spec(seed=1)) is None


def test_an_empty_store_holds_nothing(tmp_path: Path) -> None:
    assert list(RunStore(tmp_path / "nowhere")) == []


def test_a_strange_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "x.json").write_text("{}")
    with pytest.raises(ValueError, match=r"x\.json is damaged, or not a result.*no .spec."):
        list(RunStore(tmp_path))


def try_to_claim(folder: str, answers: "multiprocessing.Queue[bool]") -> None:
    with RunStore(folder).claim(tiny_spec()) as mine:
        answers.put(mine)


@pytest.mark.slow
def test_two_processes_never_hold_the_same_run(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    with RunStore(tmp_path).claim(tiny_spec()) as mine:
        assert mine
        other = context.Process(target=try_to_claim, args=(str(tmp_path), answers))
        other.start()
        assert answers.get(timeout=60) is False
        other.join()
    with RunStore(tmp_path).claim(tiny_spec()) as mine:
        assert mine
