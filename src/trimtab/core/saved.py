"""A stream's state as a safetensors file: whole or not at all, and checked when it is read."""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch

from trimtab.core.backbone import Tensors
from trimtab.core.captured import GROUPS, NUMBERS
from trimtab.core.files import write_whole
from trimtab.version import __version__

MANIFEST, CHECKSUM = "trimtab", "sha256"
"""Keys of the file's metadata."""

NAMED = ("memory", "blessed_memory")
"""Groups that may hold memories without any tensor, so their names are kept too."""

FORMAT = 3
"""Of the file. Format 1 had no checksum; format 2 no normalisation, followed samples, guard and
requests' numbers."""


def write(path: str | os.PathLike[str], state: dict[str, Any], *, readable: bool = True) -> None:
    """Save a captured state; if ``readable``, a copy of the manifest stands beside it."""
    tensors: Tensors = {"generator": state["generator"]}
    for group, depth in GROUPS.items():
        for name, value in state[group].items():
            if depth == 1:
                tensors[f"{group}/{name}"] = value.contiguous()
            else:
                tensors |= {f"{group}/{name}/{key}": t.contiguous() for key, t in value.items()}
    manifest = {
        "trimtab": __version__,
        "format": FORMAT,
        "saved": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        **{key: state[key] for key in NUMBERS},
        **{group: list(state[group]) for group in NAMED},
    }
    text = json.dumps(manifest, indent=2)
    metadata = {MANIFEST: text, CHECKSUM: checksum(text, tensors)}
    write_whole(path, safetensors.torch.save(tensors, metadata=metadata))
    if readable:
        write_whole(manifest_path(path), text.encode())


def manifest_path(path: str | os.PathLike[str]) -> Path:
    """Where the readable copy of a saved state's manifest stands: the state's name and .json."""
    return Path(f"{os.fspath(path)}.json")


def checksum(manifest: str, tensors: Tensors) -> str:
    """Of the manifest and of all tensors with their names, types and shapes."""
    found = hashlib.sha256(manifest.encode())
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        found.update(f"\n{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        found.update(tensor.flatten().view(torch.uint8).numpy().data)
    return found.hexdigest()


def read_manifest(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The manifest inside a saved state: version, time, method, backbone, counters."""
    manifest: dict[str, Any] = json.loads(_metadata(path)[MANIFEST])
    return manifest


def _metadata(path: str | os.PathLike[str]) -> dict[str, str]:
    """The file's own words, once it is sure that this version can read it."""
    if Path(path).is_dir():
        raise IsADirectoryError(f"{path} is a folder, expected a file that adapter.save wrote")
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            metadata: dict[str, str] = file.metadata() or {}
    except (safetensors.SafetensorError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a saved state, or is damaged: {error}") from error
    if MANIFEST not in metadata:
        raise ValueError(f"{path} is not a state that trimtab saved: it has no manifest")
    try:
        manifest = json.loads(metadata[MANIFEST])
        found = manifest.get("format", 1)
    except (ValueError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: its manifest cannot be read") from error
    if found != FORMAT:
        raise ValueError(
            f"{path} has format {found}, written by trimtab {manifest.get('trimtab')}; trimtab "
            f"{__version__} reads format {FORMAT}: load it with the version that wrote it"
        )
    return metadata


def read(path: str | os.PathLike[str], device: torch.device) -> dict[str, Any]:
    """The state that ``write`` saved, its tensors on ``device``; refused if a bit has changed."""
    metadata = _metadata(path)
    try:
        tensors = safetensors.torch.load_file(path)
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
        raise ValueError(f"{path} is not a saved state, or is damaged: {error}") from error
    if metadata.get(CHECKSUM) != checksum(metadata[MANIFEST], tensors):
        raise ValueError(f"{path} is damaged: its checksum is not that of its contents")
    state: dict[str, Any] = json.loads(metadata[MANIFEST])
    memories = {group: state.pop(group, None) for group in NAMED}
    for names in memories.values():
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError(f"{path} is damaged: its manifest does not name the memories it holds")
    state |= {group: {} for group in GROUPS}
    state |= {group: {name: {} for name in names or ()} for group, names in memories.items()}
    for key, tensor in tensors.items():
        group, *rest = key.split("/", GROUPS.get(key.split("/")[0], 0))
        here = tensor.to(device)
        if not rest:
            state[group] = here
        elif len(rest) == 1:
            state[group][rest[0]] = here
        else:
            state[group].setdefault(rest[0], {})[rest[1]] = here
    return state
