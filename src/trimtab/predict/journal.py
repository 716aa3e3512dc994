"""The table of predictions on disk, in step with the stream's state whatever happens.

Each row has the number of its sample in the stream. Rows are appended, synced to disk, and only
then the state is saved; so a state never knows a sample that the table lacks. What a killed
process has written beyond its last state is cut off when the next one begins, and done again.
"""

import csv
import fcntl
import io
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import BinaryIO

from trimtab.core.adapter import Adapter
from trimtab.core.saved import manifest_path


@dataclass(frozen=True)
class Row:
    """One image: a prediction, or what was wrong with it.

    Args:
        image: The file, with ``#`` and the number of the frame where it has several.
        label: Number of the predicted class, from 0; None for a bad image.
        name: The class in words, where names are known.
        confidence: Probability of the class, by softmax.
        sample: Number of the sample in the stream, from 1.
        error: Why the image was passed over.
    """

    image: str
    label: int | None = None
    name: str = ""
    confidence: float | None = None
    sample: int | None = None
    error: str = ""

    def written(self) -> list[str]:
        """The row's cells."""
        cells = ["" if value is None else value for value in astuple(self)]
        cells[3] = "" if self.confidence is None else f"{self.confidence:.6f}"
        return [str(cell) for cell in cells]


HEAD = ["image", "class", *(field.name for field in fields(Row)[2:])]


class Journal:
    """Appends rows to a CSV file and keeps the state of their stream beside it."""

    def __init__(self, out: Path, state: Path) -> None:
        self.out = out
        self.state = state
        self.seen: Counter[str] = Counter()
        self._waiting: list[Row] = []
        self._file: BinaryIO | None = None
        self._latest: tuple[int, int] | None = None  # the state's file as this process knows it

    def open(self, adapter: Adapter) -> None:
        """Take up the stream where it was; ValueError where table and state cannot fit."""
        self._refuse_odd_places()
        written = self.out.exists() and self.out.stat().st_size > 0
        if written and not self.state.exists():
            raise ValueError(
                f"{self.out} has predictions already, but the state of their stream is not at "
                f"{self.state}: give the right one with --state, another --out, or delete the table"
            )
        if self.state.exists():
            self._latest = _mark(self.state)
            adapter.load(self.state)
        else:
            self._save(adapter)  # from here on there is one, whenever there is a table
        self.out.parent.mkdir(parents=True, exist_ok=True)
        self._file = self.out.open("r+b" if written else "a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise ValueError(f"another process is writing {self.out}") from None
        if written:
            self._cut_back(adapter.counters.samples)
        else:
            self.append([HEAD])

    def _refuse_odd_places(self) -> None:
        """Neither may be a folder, nor one be written over the other."""
        for path, what in ((self.out, "table"), (self.state, "state")):
            if path.is_dir():
                raise ValueError(f"{path} is a folder, expected a file for the {what}")
        if self.out.resolve() in (self.state.resolve(), manifest_path(self.state).resolve()):
            raise ValueError(
                f"the state would be written over the table {self.out}; give another --state"
            )

    def add(self, rows: list[Row]) -> None:
        """Keep rows until the next ``commit``."""
        self._waiting.extend(rows)

    def commit(self, adapter: Adapter) -> None:
        """Write the waiting rows, then the state; nothing where they are not in step.

        They are not where somebody has interrupted between a prediction and its rows.
        """
        last = next((row.sample for row in reversed(self._waiting) if row.sample), None)
        if not self._waiting or last not in (None, adapter.counters.samples):
            return
        rows, self._waiting = self._waiting, []  # once: an interrupted commit is not made again
        if _mark(self.state) != self._latest:
            raise ValueError(
                f"another process has gone on with the stream of {self.state}; images since the "
                "last row of this table are not in it: start again when the other one is done, or "
                "give each process a --state of its own"
            )
        self.append([row.written() for row in rows])
        self._save(adapter)

    def _save(self, adapter: Adapter) -> None:
        adapter.save(self.state)
        self._latest = _mark(self.state)

    def close(self) -> None:
        """Let go of the table; rows that were not committed are forgotten."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def append(self, rows: list[list[str]]) -> None:
        """Write rows behind those that are there, and wait until they are on the disk."""
        assert self._file is not None
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        self._file.seek(0, os.SEEK_END)
        self._file.write(text.getvalue().encode("utf-8", "surrogateescape"))
        self._file.flush()
        os.fsync(self._file.fileno())

    def _cut_back(self, samples: int) -> None:
        """Keep the rows up to the last one that the state has learned from."""
        assert self._file is not None
        self._file.seek(0)
        end, waiting = 0, Counter[str]()
        for number, (cells, place) in enumerate(_rows(self._file)):
            if number == 0:
                if cells != HEAD:
                    raise ValueError(
                        f"{self.out} is no table of predictions: it begins with "
                        f"{','.join(cells)[:80]!r}, expected {','.join(HEAD)!r}"
                    )
                end = place
                continue
            known = len(cells) == len(HEAD) and (cells[4].isdecimal() or not cells[4])
            if not known or (cells[4] and int(cells[4]) > samples):
                break
            waiting[cells[0]] += 1
            if cells[4]:
                end = place
                self.seen.update(waiting)
                waiting.clear()
        if not end:
            self._expect_a_cut_head()
        self._file.truncate(end)
        os.fsync(self._file.fileno())
        if not end:
            self.append([HEAD])

    def _expect_a_cut_head(self) -> None:
        """Refuse a file without any line, unless a process was killed as it began the table."""
        assert self._file is not None
        self._file.seek(0)
        if not ",".join(HEAD).encode().startswith(self._file.read(1000)):
            raise ValueError(f"{self.out} is no table of predictions; give another --out")


def _mark(path: Path) -> tuple[int, int] | None:
    """What tells a file from the one that takes its place."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns


def _rows(file: BinaryIO) -> Iterator[tuple[list[str], int]]:
    """Rows of a CSV file, each with the place where it ends; one without a newline is left out."""
    place = 0

    def lines() -> Iterator[str]:
        nonlocal place
        for line in file:
            if not line.endswith(b"\n"):
                return
            place += len(line)
            yield line.decode("utf-8", "surrogateescape")

    for cells in csv.reader(lines()):
        yield cells, place
