"""Results on disk: one JSON a run."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from trimtab.bench.records import Records
from trimtab.bench.result import RunResult
from trimtab.bench.spec import RunSpec

STORE = "trimtab-results"
"""The folder of results where none is given."""


class RunStore:
    """A folder of results, which any number of processes may share: ``runs/ID.json`` in it."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder: Path = Path(folder)
        self.records: Records = Records(folder, "runs", "a result")

    def has(self, spec: RunSpec) -> bool:
        """Whether the run is done; a failed one is not."""
        result = self.get(spec)
        return result is not None and result.status == "done"

    def get(self, spec: RunSpec) -> RunResult | None:
        """The result of a run, if there is one."""
        return self.records.read(spec.id, RunResult.from_json)

    def put(self, result: RunResult) -> None:
        """Keep a result in place of an earlier one."""
        self.records.write(result.spec.id, result.to_json())

    def __iter__(self) -> Iterator[RunResult]:
        """All results, oldest first."""
        results = self.records.read_all(RunResult.from_json)
        return iter(sorted(results, key=lambda result: (result.started, result.spec.id)))

    def __len__(self) -> int:
        return len(self.records)

    def claim(self, spec: RunSpec) -> AbstractContextManager[bool]:
        """Hold a run for this process; False when another process holds it."""
        return self.records.claim(spec.id)
