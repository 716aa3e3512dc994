"""Training checkpoints, written whole or not at all."""

import io
from pathlib import Path
from typing import Any

import torch

from trimtab.core.files import write_whole


def save_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Write ``state`` to ``path``: a reader sees the old file or the new one, never half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    torch.save(state, buffer)
    write_whole(path, buffer.getvalue())


def load_checkpoint(path: Path) -> dict[str, Any] | None:
    """What ``save_checkpoint`` wrote, or nothing where there is no file yet."""
    if not path.exists():
        return None
    state: dict[str, Any] = torch.load(path, weights_only=True)
    return state
