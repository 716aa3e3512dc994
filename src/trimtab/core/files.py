"""Files that are written whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

try:
    import fcntl
except ImportError:  # without locks nobody sweeps
    fcntl = None  # type: ignore[assignment]

MOST_WRITERS = 64
"""Writers of one file at a time whose leftovers are swept, should they be killed."""


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Replace ``path`` by ``content`` in one step: no reader ever sees half of it."""
    with written_whole(path) as temporary:
        temporary.write_bytes(content)


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary file in the same folder, which takes the place of ``path`` on success only.

    A link's target is replaced, not the link. The file gets the permissions of the one that it
    replaces, otherwise those that the process gives new files. What killed writers of the same
    file have left is swept away.
    """
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary, handle = _temporary(target)
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o777)
        temporary.replace(target)
    except BaseException:  # once it has replaced the target, its name may be another writer's
        temporary.unlink(missing_ok=True)
        raise
    finally:
        if handle is not None:
            os.close(handle)


def _temporary(target: Path) -> tuple[Path, int | None]:
    """A file beside the target, and the handle by which it is locked until that is closed.

    Names are numbered and looked for one by one: a folder may hold 100,000 states, and to list
    it at every write would take longer than to write.
    """
    for number in count():
        part = _part(target, str(number))
        handle = None if fcntl is None else _taken(part)
        if handle is not None:
            _sweep(target, number + 1)
            return part, handle
        if fcntl is None or number == MOST_WRITERS:  # or a file system that knows no locks
            part = _part(target, secrets.token_hex(8))
            os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666))
            return part, None
    raise AssertionError("count() has no end")


def _part(target: Path, mark: str) -> Path:
    return target.parent / f".{target.name}.{mark}.part"


def _taken(part: Path) -> int | None:
    """The handle of a locked, empty file that nobody else writes to, or None.

    It may be what a killed writer has left: the locks of those are gone.
    """
    handle = os.open(part, os.O_CREAT | os.O_RDWR, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # an error if it is held
        if os.fstat(handle).st_ino == part.stat().st_ino:  # not renamed or swept meanwhile
            os.ftruncate(handle, 0)
            return handle
    except OSError:
        pass
    os.close(handle)
    return None


def _sweep(target: Path, number: int) -> None:
    """Delete what killed writers have left under this number and those after it."""
    part = _part(target, str(number))
    while part.exists():
        handle = _taken(part)
        if handle is not None:
            part.unlink(missing_ok=True)
            os.close(handle)
        number += 1
        part = _part(target, str(number))
