"""Weight files of the user's, found by a network's name."""

import hashlib
import os
from pathlib import Path

from trimtab.models.entry import ModelEntry
from trimtab.models.table import describe

ENDINGS = (".safetensors", ".pth", ".pt")


def weights_folder() -> Path:
    """The folder of weight files: ``$TRIMTAB_WEIGHTS``, or ``weights`` here."""
    return Path(os.environ.get("TRIMTAB_WEIGHTS") or "weights")


def local_file(entry: ModelEntry) -> Path | None:
    """The network's file in that folder, if there is one: its name with a usual ending."""
    paths = (weights_folder() / f"{entry.name}{ending}" for ending in ENDINGS)
    return next((path for path in paths if path.exists()), None)


def fingerprint(name: str) -> str | None:
    """How runs name a network's weights: by the table's hash, or by that of the user's file."""
    entry = describe(name)
    if not entry.is_users_own:
        return entry.fingerprint
    path = local_file(describe(name.partition("@")[0]))
    return None if path is None else file_hash(path)[:16]


def file_hash(path: Path) -> str:
    """The SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
