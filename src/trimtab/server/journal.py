"""Write-ahead log of rounds: who stepped with whom, without which no replay is exact.

A stream's numbers do not depend on its neighbours, but their last bits do: a network's layers sum
in another order when a merged pass has other samples beside. The journal has one line for each
round, written before the round is computed and on the disk before any state that it led to.
``trimtab.server.replay`` makes the same rounds again, to the bit.
"""

import errno
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Entry:
    """One request's part in a round.

    Args:
        stream: None for the source model.
        number: As the client gave it; None for requests without one.
        samples: Samples of the request.
        through: Number through which the stream had learned before.
        seen: Samples that the stream had seen before, 0 at its beginning.
        learns: Whether the stream learns from it.
        counts: Whether the stream has learned through its number afterwards; a frozen one has, too.
        anew: Whether the stream is reset before.
    """

    stream: str | None
    number: int | None
    samples: int
    through: int | None = None
    seen: int = 0
    learns: bool = False
    counts: bool = False
    anew: bool = False


class Journal:
    """Appends rounds to a file; what an earlier process has written stays.

    Args:
        path: Made where there is none.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("ab", buffering=0)
        self._settled = True
        self._ended = not self._file.tell()  # a killed process may have left half a line

    def note(self, entries: Iterable[Entry]) -> None:
        """Write a round that is about to be computed; OSError where it does not fit on the disk."""
        line = json.dumps([astuple(entry) for entry in entries], separators=(",", ":")).encode()
        text = (b"" if self._ended else b"\n") + line + b"\n"
        self._settled = self._ended = False
        if self._file.write(text) < len(text):
            raise OSError(errno.ENOSPC, "the disk has no room for the journal's next round")
        self._ended = True

    def settle(self) -> None:
        """Return when all rounds noted so far are on the disk."""
        if not self._settled:
            self._settled = True  # before the flush: what is noted meanwhile is not in it
            os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


def read(path: str | os.PathLike[str], start: int = 0) -> Iterator[tuple[list[Entry], int]]:
    """Rounds from a place in the file on, each with the place behind it.

    A line that was cut off by a kill is left out: its round led to no state that was kept.
    """
    with Path(path).open("rb") as lines:
        lines.seek(start)
        for line in iter(lines.readline, b""):
            if line.endswith(b"\n") and line != b"\n":
                try:
                    yield [Entry(*fields) for fields in json.loads(line)], lines.tell()
                except (ValueError, TypeError):
                    continue
