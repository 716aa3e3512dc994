"""Reads the tensors of a weight file, and nothing else: no file can run code here."""

import pickle
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

CONTAINERS = ("state_dict", "model_state_dict", "model", "net")
"""Keys under which training scripts keep the state dict."""


def read_tensors(path: Path) -> dict[str, Tensor]:
    """The state dict in ``path`` (safetensors or torch), out of its container, names as stored."""
    if not path.is_file():
        raise FileNotFoundError(f"no weight file at {path}")
    with path.open("rb") as file:
        start = file.read(9)
    if start[8:9] == b"{":
        return _read_safetensors(path)
    if start[:2] in (b"PK", b"\x80\x02"):
        return _state_dict(_read_torch(path), path)
    raise ValueError(f"{path} is neither a safetensors nor a torch file")


def _read_safetensors(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except SafetensorError as error:
        raise ValueError(
            f"{path} is not a whole safetensors file ({error}); it may be truncated"
        ) from error


def _read_torch(path: Path) -> Any:
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise ValueError(_refusal(path)) from error
    except (RuntimeError, EOFError, OSError, ValueError, KeyError, AttributeError) as error:
        first_line = (str(error).splitlines() or ["it ends too early"])[0]
        raise ValueError(
            f"{path} is not a whole torch file ({first_line}); it may be truncated"
        ) from error


def _refusal(path: Path) -> str:
    try:
        # torch has this from 2.6 on; before, the names stay unknown
        from torch.serialization import get_unsafe_globals_in_checkpoint

        found = ", ".join(get_unsafe_globals_in_checkpoint(path)[:5])
    except Exception:  # a file that is broken in other ways too: the refusal itself stands
        found = "unknown"
    return (
        f"{path} holds pickled Python objects ({found}), and opening those runs whatever code the "
        "file names; only tensors are read here. docs/models.md shows how to take the tensors out"
    )


def _state_dict(content: Any, path: Path) -> dict[str, Tensor]:
    """The mapping from names to tensors inside ``content``, through at most two containers."""
    for _ in range(3):
        if not isinstance(content, dict):
            break
        tensors = {str(k): v for k, v in content.items() if isinstance(v, Tensor)}
        if tensors:
            return tensors
        content = next((content[key] for key in CONTAINERS if key in content), None)
    keys = ", ".join(CONTAINERS)
    raise ValueError(f"{path} holds no state dict; looked for tensors at the top and under {keys}")
