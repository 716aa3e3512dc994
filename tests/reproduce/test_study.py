"""Studies: kept whole, found again, not taken from a file that is none."""

from pathlib import Path

import pytest

from trimtab.reproduce.study import Study, StudyStore


def test_a_study_is_found_again_by_its_settings_in_any_order(tmp_path: Path) -> None:
    store = StudyStore(tmp_path)
    store.put(Study("memory", {"a": 1, "b": 2}), {"peak": 3.5})
    assert store.get(Study("memory", {"b": 2, "a": 1})) == {"peak": 3.5}
    assert store.get(Study("memory", {"b": 2, "a": 2})) is None
    assert store.get(Study("other", {"b": 2, "a": 1})) is None


def test_a_file_that_is_no_study_is_named(tmp_path: Path) -> None:
    study = Study("memory", {})
    StudyStore(tmp_path).put(study, {})
    path = tmp_path / "studies" / f"{study.id}.json"
    path.write_text("{}")
    with pytest.raises(ValueError, match=path.name):
        StudyStore(tmp_path).get(study)


def test_numbers_that_are_not_finite_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    study = Study("memory", {})
    with pytest.raises(ValueError, match="JSON"):
        StudyStore(tmp_path).put(study, {"peak": float("nan")})
    assert StudyStore(tmp_path).get(study) is None
