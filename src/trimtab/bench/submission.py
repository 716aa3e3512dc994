"""Submissions: the results of many runs in one JSON file, with a hash of what is in it.

A store is a folder that grows; a submission is what one hands on: to a leaderboard, or into a
repository, one file for each table. Every run stands on a line of its own.
"""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trimtab.bench.result import RunResult
from trimtab.bench.store import RunStore
from trimtab.bench.typed import shown
from trimtab.core.files import write_whole
from trimtab.version import __version__

FORMAT = 1
KEYS = ("format", "title", "by", "version", "sha256", "results")


@dataclass(frozen=True)
class Submission:
    """Results that somebody hands on.

    Args:
        title: The suite's title, or what the results are.
        by: Who did the runs; may be empty.
        results: At least one, failed ones included.
        version: Of trimtab, that wrote it.
        sha256: Of all that the file says, results in the order of their ids: 64 hexadecimal
            digits. Empty for one that is not written yet.
    """

    title: str
    by: str
    results: tuple[RunResult, ...]
    version: str = __version__
    sha256: str = ""

    def to_json(self) -> str:
        """The file's text."""
        entries = [json.loads(result.to_json()) for result in self.results]
        digest = _digest(self._head(), entries)
        head = json.dumps(self._head() | {"sha256": digest}, indent=1)[:-2]
        lines = ",\n".join(_lines(entries))
        return f'{head},\n "results": [\n{lines}\n]}}\n'

    @classmethod
    def from_json(cls, text: str) -> "Submission":
        """What ``to_json`` wrote; what was changed since then is refused."""
        values = json.loads(text)
        if not isinstance(values, dict) or not set(KEYS) <= set(values):
            raise ValueError(f"a submission is a JSON object with {', '.join(KEYS)}")
        if values["format"] != FORMAT:
            raise ValueError(
                f"it has format {shown(values['format'])}, and this version reads {FORMAT}"
            )
        results = tuple(_result(entry) for entry in _entries(values["results"]))
        counts = Counter(run.spec.id for run in results)
        if len(counts) < len(results):
            raise ValueError(f"it has more than one result of run {counts.most_common(1)[0][0]}")
        said = {key: str(values[key]) for key in ("title", "by", "version", "sha256")}
        found = cls(results=results, **said)
        # Of the file's own words: results of older versions lack what is recorded since then.
        if found.sha256 != _digest(found._head(), values["results"]):
            raise ValueError(
                "its hash is not that of its contents: it was changed after it was written; "
                "make it again with trimtab bench ... --submission"
            )
        return found

    def _head(self) -> dict[str, Any]:
        return {"format": FORMAT, "title": self.title, "by": self.by, "version": self.version}


def write_submission(path: str | os.PathLike[str], submission: Submission) -> str:
    """Write the file, whole or not at all; the hash of what it says."""
    text = submission.to_json()
    write_whole(path, text.encode())
    return Submission.from_json(text).sha256


def read_submission(path: str | os.PathLike[str]) -> Submission:
    """The submission in a file; a ValueError says what is wrong with it."""
    try:
        return Submission.from_json(Path(path).read_text(encoding="utf-8"))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        what = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{path} is no submission that can be read: {what}") from error


def read_results(path: str | os.PathLike[str]) -> list[RunResult]:
    """The results of a store's folder, or of a submission's file; oldest first."""
    place = Path(path)
    if not place.is_file():
        return list(RunStore(place)) if place.is_dir() else []
    return sorted(read_submission(place).results, key=lambda run: (run.started, run.spec.id))


def _entries(values: Any) -> list[Any]:
    if not isinstance(values, list) or not values:
        raise ValueError(f"results must be a list with at least one run, got {shown(values)}")
    return values


def _result(entry: Any) -> RunResult:
    result = RunResult.from_json(json.dumps(entry))
    if entry.get("id") != result.spec.id:
        raise ValueError(
            f"a run calls itself {shown(entry.get('id'))}, and what it says of itself makes "
            f"{result.spec.id}"
        )
    return result


def _digest(head: Any, entries: Iterable[Any]) -> str:
    return hashlib.sha256("\n".join((_compact(head), *_lines(entries))).encode()).hexdigest()


def _lines(entries: Iterable[Any]) -> list[str]:
    return [_compact(entry) for entry in sorted(entries, key=lambda entry: str(entry["id"]))]


def _compact(values: Any) -> str:
    """On one line, keys in their order: that of domains is the order of the stream."""
    return json.dumps(values, separators=(",", ":"), allow_nan=False)
