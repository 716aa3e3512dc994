"""Submissions: one file, whole, and not changed since it was written."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from report import stores
from trimtab.bench.submission import Submission, read_results, read_submission, write_submission

RUNS = tuple(stores.three_methods())
WHOLE = Submission("three methods", "Ada", RUNS)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    write_submission(tmp_path / "out.json", WHOLE)
    read = read_submission(tmp_path / "out.json")
    assert read.by == "Ada"
    assert sorted(read.results, key=lambda run: run.spec.id) == sorted(
        RUNS, key=lambda run: run.spec.id
    )
    assert len(read.sha256) == 64
    assert read.to_json() == WHOLE.to_json()


def test_a_file_of_a_version_that_recorded_less_is_read() -> None:
    values = json.loads(WHOLE.to_json())
    for entry in values["results"]:
        del entry["scores"]["domain_starts"]
    head = {key: values[key] for key in ("format", "title", "by", "version")}
    lines = [json.dumps(e, separators=(",", ":")) for e in values["results"]]
    words = "\n".join((json.dumps(head, separators=(",", ":")), *lines))
    values["sha256"] = hashlib.sha256(words.encode()).hexdigest()
    assert Submission.from_json(json.dumps(values)).results[0].scores is not None


def test_the_order_of_runs_does_not_matter() -> None:
    assert replace(WHOLE, results=RUNS[::-1]).to_json() == WHOLE.to_json()


def test_the_order_of_domains_is_kept() -> None:
    last_first = stores.done(stores.spec(), 0.2, errors={"snow": 0.25, "fog": 0.15})
    read = Submission.from_json(Submission("one", "Ada", (last_first,)).to_json())
    assert read.results[0].scores is not None
    assert list(read.results[0].scores.errors) == ["snow", "fog"]


def test_every_run_is_one_line() -> None:
    assert sum(line.startswith('{"spec"') for line in WHOLE.to_json().splitlines()) == len(RUNS)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"error":0.2,', '"error":0.1,', "changed after it was written"),
        ('"by": "Ada"', '"by": "Bob"', "changed after it was written"),
        ('"seed":0', '"seed":7', "calls itself"),
        ('"format": 1', '"format": 9', "format 9"),
        ('"sha256"', '"sha1"', "a submission is a JSON object with"),
        ('"results": [', '"results": [], "more": [', "at least one run"),
        ('"status":"done"', '"status":"won"', "status must be"),
        ("{", "", "is no submission that can be read"),
    ],
)
def test_a_changed_file_is_refused(tmp_path: Path, old: str, new: str, why: str) -> None:
    text = WHOLE.to_json()
    assert old in text
    (tmp_path / "out.json").write_text(text.replace(old, new, 1))
    with pytest.raises(ValueError, match=why):
        read_submission(tmp_path / "out.json")


def test_a_run_that_is_there_twice_is_refused() -> None:
    values = json.loads(WHOLE.to_json())
    values["results"].append(values["results"][0])
    with pytest.raises(ValueError, match="more than one result of run"):
        Submission.from_json(json.dumps(values))


def test_results_are_read_from_folders_and_files(tmp_path: Path) -> None:
    stores.write(tmp_path / "store", RUNS)
    write_submission(tmp_path / "out.json", WHOLE)
    assert read_results(tmp_path / "store") == read_results(tmp_path / "out.json")
    assert read_results(tmp_path / "nothing") == []
