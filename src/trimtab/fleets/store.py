"""Streams as files: one for each stream, listed without opening any."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from trimtab.core import saved
from trimtab.core.files import write_whole
from trimtab.fleets.names import file_stem, name_of
from trimtab.fleets.opening import Opening

STATE, OPENING = ".safetensors", ".opening.json"
"""Endings of a stream's files: its state, and how it was opened if not as the fleet's others."""


class Store:
    """A folder of streams. Each file is written whole or not at all.

    Names of files are made of the streams' names in a way that leads nowhere else.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder: Path = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.names: set[str] = set(self._listed())

    def _listed(self) -> Iterable[str]:
        with os.scandir(self.folder) as entries:
            for entry in entries:
                if entry.name.endswith(STATE):
                    name = name_of(entry.name.removesuffix(STATE))
                    if name is not None:
                        yield name

    def state_path(self, name: str) -> Path:
        """Where a stream's state is."""
        return self.folder / f"{file_stem(name)}{STATE}"

    def opening_path(self, name: str) -> Path:
        """Where it says how a stream was opened, if not as the fleet's others."""
        return self.folder / f"{file_stem(name)}{OPENING}"

    def write(self, name: str, state: dict[str, Any], opening: Opening | None) -> None:
        """Keep a captured state, and how the stream was opened where that is its own."""
        if opening is not None:
            write_whole(self.opening_path(name), json.dumps(opening.words(), indent=2).encode())
        else:  # an earlier stream's of this name, which was killed between its two files
            self.opening_path(name).unlink(missing_ok=True)
        saved.write(self.state_path(name), state, readable=False)
        self.names.add(name)

    def read(self, name: str, device: torch.device) -> dict[str, Any]:
        """The state of a stream."""
        return saved.read(self.state_path(name), device)

    def opening(self, name: str, usual: Opening) -> Opening | None:
        """How a stream was opened; None where as usual."""
        path = self.opening_path(name)
        if not path.exists():
            return None
        try:
            return usual.from_words(json.loads(path.read_text()))
        except (ValueError, TypeError, AttributeError) as error:
            raise ValueError(f"stream {name!r} cannot be opened again: {error}") from error

    def delete(self, name: str) -> None:
        """Forget a stream; first its state, so that none is left without its opening."""
        self.state_path(name).unlink(missing_ok=True)
        self.opening_path(name).unlink(missing_ok=True)
        self.names.discard(name)

    def take(self, name: str, other: Store) -> None:
        """Have a stream of another store too. Files are never written into, so they are shared."""
        for find in (Store.opening_path, Store.state_path):
            source, target = find(other, name), find(self, name)
            if source.exists():
                _link(source, target)
        self.names.add(name)


def _link(source: Path, target: Path) -> None:
    """The same file under another name, or a copy where the file system knows no links."""
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:
        write_whole(target, source.read_bytes())
