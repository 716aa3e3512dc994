"""Files that are written whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # without locks nobody sweeps
    fcntl = None  # type: ignore[assignment]


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
    _sweep(target)
    temporary, handle = _temporary(target)
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o777)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
        if handle is not None:
            os.close(handle)


def _temporary(target: Path) -> tuple[Path, int | None]:
    """A file beside the target, and the handle by which it is locked until that is closed."""
    while True:
        part = target.parent / f".{target.name}.{secrets.token_hex(4)}.part"
        handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        if fcntl is None:
            os.close(handle)
            return part, None
        with suppress(OSError):  # not every file system knows locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return part, handle
        os.close(handle)  # another writer swept it away before it was locked


def _sweep(target: Path) -> None:
    """Delete the temporary files of writers that are no more: the locks of those are gone."""
    left = target.parent.glob(f".{_literally(target.name)}.*.part")
    for part in left if fcntl is not None else ():
        with suppress(OSError):
            handle = os.open(part, os.O_RDWR)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # an error if it is held
                part.unlink()
            finally:
                os.close(handle)


def _literally(name: str) -> str:
    """A pattern that means this name and no other."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
