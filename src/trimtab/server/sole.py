"""One server for a folder of states: a second one would write over what the first has learned."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # without locks nobody is told
    fcntl = None  # type: ignore[assignment]

LOCK = ".server.lock"
"""A file of the folder, locked as long as a server runs, however it ends."""


@contextmanager
def sole_server_of(folder: str | os.PathLike[str] | None) -> Iterator[None]:
    """Refuse a folder that another server of this machine keeps its streams in."""
    if folder is None or fcntl is None:
        yield
        return
    Path(folder).mkdir(parents=True, exist_ok=True)
    with (Path(folder) / LOCK).open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(
                f"another server keeps its streams in {folder}; stop it first, or give another "
                "--store"
            ) from None
        except OSError:  # a file system that knows no locks
            pass
        yield
