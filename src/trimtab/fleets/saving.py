"""Whole fleets as folders: written whole or not at all, also when the writer is killed.

The streams are written into a new folder first; then the manifest, one file, is replaced by one
that names it. Whoever reads finds all of the old streams or all of the new ones.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trimtab.core.backbone import Backbone
from trimtab.core.files import write_whole
from trimtab.fleets.opening import Opening, stream_options
from trimtab.fleets.residents import Residents
from trimtab.fleets.store import Store
from trimtab.version import __version__

MANIFEST = "fleet.json"
FORMAT = 1

_STREAMS = re.compile(r"streams-[0-9a-f]{16}")


@dataclass(frozen=True)
class SavedFleet:
    """A fleet in a folder: its streams, and how those are opened that nothing else is said of."""

    streams: Store
    usual: dict[str, Any]


def write(residents: Residents, folder: str | os.PathLike[str], backbone: Backbone) -> None:
    """Save all streams; what an earlier or a killed writer has left is swept away."""
    place = Path(folder)
    streams = f"streams-{secrets.token_hex(8)}"
    store = Store(place / streams)
    try:
        residents.copy_to(store)
        _to_disk(store.folder)
        manifest = {
            "trimtab": __version__,
            "format": FORMAT,
            "folder": streams,
            "streams": len(store.names),
            "usual": residents.usual.words(),
            **backbone.fingerprint.words(),
        }
        write_whole(place / MANIFEST, json.dumps(manifest, indent=2).encode())
    except BaseException:
        shutil.rmtree(store.folder, ignore_errors=True)
        raise
    for left in place.iterdir():
        if _STREAMS.fullmatch(left.name) and left.name != streams:
            shutil.rmtree(left, ignore_errors=True)


def _to_disk(folder: Path) -> None:
    """Make sure that a folder's list of files is kept before something points to it."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # not every system lets folders be opened
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read(folder: str | os.PathLike[str], backbone: Backbone) -> SavedFleet:
    """What ``write`` saved of this backbone's fleet; a ValueError where that is not whole."""
    path = Path(folder) / MANIFEST
    try:
        manifest = json.loads(path.read_text())
        streams, count, usual = manifest["folder"], manifest["streams"], manifest["usual"]
    except FileNotFoundError as error:
        raise ValueError(f"{folder} holds no fleet: there is no {MANIFEST}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged: {error!r}") from error
    if manifest.get("format") != FORMAT or not _STREAMS.fullmatch(str(streams)):
        raise ValueError(f"{path} has format {manifest.get('format')}, expected {FORMAT}")
    for name, value in backbone.fingerprint.words().items():
        if manifest.get(name) != value:
            raise ValueError(
                f"this fleet belongs to another model: its {name} is {manifest.get(name)}, here "
                f"it is {value}"
            )
    if not (path.parent / streams).is_dir():
        raise ValueError(f"{folder} is damaged: its folder {streams} is missing")
    store = Store(path.parent / streams)
    if len(store.names) != count:
        raise ValueError(f"{folder} is damaged: it has {len(store.names)} of {count} streams")
    return SavedFleet(store, usual)


def opening(words: dict[str, Any], method: Any, options: dict[str, Any]) -> Opening:
    """How the fleet's streams are opened, with its method given again where words cannot tell."""
    try:
        told = Opening("source").from_words(words) if method is None else None
        if told is not None:
            return told
        given = Opening(method, int(words["seed"]), stream_options(words), options)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"this fleet is damaged: {error!r}") from error
    if given.recipe.spec != words["spec"]:
        raise ValueError(f"this fleet has another method: {words['spec']}, got {given.recipe.spec}")
    return given
