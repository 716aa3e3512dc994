"""Checkpoints of streams: what survives when the server is killed.

One file a stream, replaced whole. A thread of its own writes; of a stream that is put twice before
its turn, the later state alone is written.
"""

import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

from trimtab.core import saved
from trimtab.core.files import write_whole
from trimtab.fleets import store as files
from trimtab.fleets.names import file_stem, name_of

log = logging.getLogger("trimtab.server")

FROZEN = ".frozen"
RETRY_SECONDS = 1.0
CLOSE_SECONDS = 30.0
State = dict[str, Any]


class Store:
    """Keeps states in a folder.

    Args:
        may_write: Asked before every write; False where another process has taken over.
        on_written: Called with a stream's id after its state was written, in the writer's thread.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        may_write: Callable[[], bool] = lambda: True,
        on_written: Callable[[str], None] = lambda stream: None,
    ) -> None:
        self._files = files.Store(folder)
        self.folder = self._files.folder
        self.written = self.failures = 0
        self._may_write, self._on_written = may_write, on_written
        self._pending: dict[str, State] = {}
        self._durable: dict[str, int | None] = {}
        self._changed = threading.Condition()
        self._file_lock = threading.Lock()
        self._busy = self._closed = False
        self._writer = threading.Thread(target=self._write_all, name="trimtab-store", daemon=True)
        self._writer.start()

    # ---------------------------------------------------------------- states

    def put(self, stream: str, state: State) -> None:
        """Have a captured state written soon."""
        with self._changed:
            self._pending.pop(stream, None)
            self._pending[stream] = state
            self._changed.notify_all()

    def get(self, stream: str) -> State | None:
        """The latest state that was put, written or not; None if there is none.

        A ValueError says that the file is damaged or of another version.
        """
        with self._changed:
            waiting = self._pending.get(stream)
        if waiting is not None:
            return waiting
        path = self._files.state_path(stream)
        with self._file_lock:
            if not path.exists():
                return None
            state = saved.read(path, torch.device("cpu"))
        self._durable[stream] = state["learned_through"]
        return state

    def holds(self, stream: str) -> bool:
        """Whether there is a state of the stream, written or not."""
        with self._changed:
            waiting = stream in self._pending
        return waiting or self._files.state_path(stream).exists()

    def note_use(self, stream: str, seconds_ago: float) -> None:
        """Note when a stream was used whose state has not changed by it."""
        path, then = self._files.state_path(stream), time.time() - seconds_ago
        with suppress(FileNotFoundError):  # it has no file yet
            if then > path.stat().st_mtime:
                os.utime(path, (then, then))

    def older_than(self, seconds: float) -> list[str]:
        """Streams that were used longer ago, as far as their files tell."""
        then = time.time() - seconds
        with os.scandir(self.folder) as entries:
            states = [entry for entry in entries if entry.name.endswith(files.STATE)]
            old = [entry.name for entry in states if entry.stat().st_mtime < then]
        found = (name_of(name.removesuffix(files.STATE)) for name in old)
        return [stream for stream in found if stream is not None]

    def manifest(self, stream: str) -> dict[str, Any] | None:
        """What the file of a stream says about itself, without its tensors."""
        path = self._files.state_path(stream)
        with self._file_lock:
            return saved.read_manifest(path) if path.exists() else None

    def durable_through(self, stream: str) -> int | None:
        """Number of the last request whose effect is in the stream's file."""
        return self._durable.get(stream)

    def delete(self, stream: str) -> None:
        """Forget a stream for good."""
        with self._changed, self._file_lock:  # the writer never waits for the one in the other
            self._pending.pop(stream, None)
            self._durable.pop(stream, None)
            self._files.state_path(stream).unlink(missing_ok=True)
            self._frozen_path(stream).unlink(missing_ok=True)

    def streams(self) -> list[str]:
        """Ids of all streams that had a state here when the store was opened, in order."""
        return sorted(self._files.names)

    # ---------------------------------------------------------------- frozen streams

    def set_frozen(self, stream: str, frozen: bool) -> None:
        """Note that a stream learns no more, or learns again."""
        if frozen:
            write_whole(self._frozen_path(stream), b"")
        else:
            self._frozen_path(stream).unlink(missing_ok=True)

    def is_frozen(self, stream: str) -> bool:
        return self._frozen_path(stream).exists()

    def _frozen_path(self, stream: str) -> Path:
        return self.folder / (file_stem(stream) + FROZEN)

    # ---------------------------------------------------------------- writing

    @property
    def waiting(self) -> int:
        """States that are not written yet."""
        with self._changed:
            return len(self._pending)

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all that was put is written; False if that took longer."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._pending and not self._busy, timeout)

    def close(self) -> None:
        """Write what waits, and end; a disk that takes nothing is not waited for for ever."""
        self.flush(CLOSE_SECONDS)
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._writer.join()

    def _write_all(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._pending or self._closed)
                if self._closed:
                    return
                stream, state = next(iter(self._pending.items()))
                self._busy = True
            self._write(stream, state)
            with self._changed:
                self._busy = False
                self._changed.notify_all()

    def _write(self, stream: str, state: State) -> None:
        """Write one state. It stays among the pending until then, so that ``get`` finds it."""
        written = False
        try:
            with self._file_lock:
                if self._is_latest(stream, state) and self._may_write():
                    saved.write(self._files.state_path(stream), state, readable=False)
                    _settle(self.folder)
                    self._durable[stream] = state["learned_through"]
                    written = True
        except OSError:
            self.failures += 1
            log.exception("the state of a stream could not be written", extra={"stream": stream})
            self._again_later(stream)
            return
        with self._changed:
            if self._pending.get(stream) is state:
                del self._pending[stream]
        if written:
            self.written += 1
            self._on_written(stream)

    def _again_later(self, stream: str) -> None:
        """Put a state behind the others, and give the disk a second."""
        with self._changed:
            if stream in self._pending:
                self._pending[stream] = self._pending.pop(stream)
            self._changed.wait_for(lambda: self._closed, RETRY_SECONDS)

    def _is_latest(self, stream: str, state: State) -> bool:
        return self._pending.get(stream) is state  # not deleted, not replaced meanwhile


def _settle(folder: Path) -> None:
    """Make a renamed file last through a loss of power."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
