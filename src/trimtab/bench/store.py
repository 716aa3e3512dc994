"""Results on disk: one JSON a run, written whole or not at all."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trimtab.bench.result import RunResult
from trimtab.bench.spec import RunSpec
from trimtab.core.files import write_whole


class RunStore:
    """A folder of results, which any number of processes may share.

    ``runs/ID.json`` is a result, ``claims/ID`` a file that is locked by the process that works
    on it; the system lets go of the lock when a process ends, however it ends.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def has(self, spec: RunSpec) -> bool:
        """Whether the run is done; a failed one is not."""
        result = self.get(spec)
        return result is not None and result.status == "done"

    def get(self, spec: RunSpec) -> RunResult | None:
        """The result of a run, if there is one."""
        path = self._path(spec.id)
        return RunResult.from_json(path.read_text()) if path.exists() else None

    def put(self, result: RunResult) -> None:
        """Keep a result in place of an earlier one."""
        path = self._path(result.spec.id)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, result.to_json().encode())

    def __iter__(self) -> Iterator[RunResult]:
        """All results, oldest first."""
        results = [_read(path) for path in sorted((self.folder / "runs").glob("*.json"))]
        return iter(sorted(results, key=lambda result: (result.started, result.spec.id)))

    def __len__(self) -> int:
        return len(list((self.folder / "runs").glob("*.json")))

    @contextmanager
    def claim(self, spec: RunSpec) -> Iterator[bool]:
        """Hold a run for this process; False when another process holds it."""
        path = self.folder / "claims" / spec.id
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True

    def _path(self, run_id: str) -> Path:
        return self.folder / "runs" / f"{run_id}.json"


def _read(path: Path) -> RunResult:
    try:
        return RunResult.from_json(path.read_text())
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not a result that trimtab wrote: {error}") from error
