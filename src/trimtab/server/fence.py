"""Fencing token: of two processes that think a shard is theirs, only the later one writes."""

import os
import secrets
from pathlib import Path

from trimtab.core.files import write_whole


class Fence:
    """Takes over a shard of a folder of states.

    A replica that was given up for dead may still run; it finds another's mark and writes no more.
    """

    def __init__(self, folder: str | os.PathLike[str], shard: int) -> None:
        self._path = Path(folder) / f"shard-{shard}.owner"
        self._mark = secrets.token_hex(16).encode()
        write_whole(self._path, self._mark)

    def holds(self) -> bool:
        """Whether nobody has taken over since."""
        try:
            return self._path.read_bytes() == self._mark
        except OSError:
            return False
