"""Records on disk: a folder of JSON files by id, each written whole or not at all."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from trimtab.core.files import write_whole

Record = TypeVar("Record")


class Records:
    """``FOLDER/PART/ID.json``, which any number of processes may share.

    ``FOLDER/claims/ID`` is a file that is locked by the process that works on a record; the
    system lets go of the lock when a process ends, however it ends.

    Args:
        folder: The whole store.
        part: ``"runs"`` or ``"studies"``.
        what: One record, for errors: ``"a result"``.
    """

    def __init__(self, folder: str | os.PathLike[str], part: str, what: str) -> None:
        self.folder: Path = Path(folder)
        self.part: Path = self.folder / part
        self.what = what

    def read(self, record_id: str, parse: Callable[[str], Record]) -> Record | None:
        """What ``parse`` makes of a record's text; None without one."""
        path = self._path(record_id)
        return self._parsed(path, parse) if path.exists() else None

    def read_all(self, parse: Callable[[str], Record]) -> list[Record]:
        """What ``parse`` makes of each record, in the order of their ids."""
        return [self._parsed(path, parse) for path in sorted(self.part.glob("*.json"))]

    def write(self, record_id: str, text: str) -> None:
        """Keep a record in place of an earlier one."""
        self.part.mkdir(parents=True, exist_ok=True)
        write_whole(self._path(record_id), text.encode())

    def __len__(self) -> int:
        return len(list(self.part.glob("*.json")))

    @contextmanager
    def claim(self, record_id: str) -> Iterator[bool]:
        """Hold a record for this process; False when another process holds it."""
        path = self.folder / "claims" / record_id
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True

    def _path(self, record_id: str) -> Path:
        return self.part / f"{record_id}.json"

    def _parsed(self, path: Path, parse: Callable[[str], Record]) -> Record:
        try:
            return parse(path.read_text(encoding="utf-8"))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            what = f"it has no {error}" if isinstance(error, KeyError) else str(error)
            raise ValueError(
                f"{path} is damaged, or not {self.what} that trimtab wrote: {what}; delete it to "
                "have it made again"
            ) from error
