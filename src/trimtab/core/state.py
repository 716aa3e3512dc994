"""A stream's state as a dictionary and as a file: everything that decides its future."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import safetensors
import safetensors.torch
import torch

from trimtab.core.backbone import Tensors
from trimtab.core.counters import Counters
from trimtab.core.files import write_whole
from trimtab.version import __version__

if TYPE_CHECKING:
    from trimtab.core.adapter import Adapter

MANIFEST = "trimtab"
"""Key of the manifest in the file's metadata."""

GROUPS = {"params": 1, "statistics": 1, "window": 1, "memory": 2, "optimizer": 2}
"""Groups of tensors, and how many names lead to one."""


@torch.inference_mode(False)
def capture(adapter: Adapter) -> dict[str, Any]:
    """All that decides the next predictions, as copies."""
    slots = adapter.optimizer.state_dict()["state"] if adapter.optimizer else {}
    optimizer = {
        str(index): {key: value for key, value in values.items() if value is not None}
        for index, values in slots.items()
    }
    return {
        "made_by": _origin(adapter),
        "seed": adapter.seed,
        "sample_shape": None if adapter.sample_shape is None else list(adapter.sample_shape),
        "counters": asdict(adapter.counters),
        "pace": adapter.pace.state(),
        "generator": adapter.generator.get_state(),
        "params": _copied(adapter.params),
        "statistics": _copied(adapter.statistics),
        "window": _copied(adapter.window.state()),
        "memory": {name: _copied(memory) for name, memory in adapter.memory.items()},
        "optimizer": {index: _copied(values) for index, values in optimizer.items()},
    }


def _origin(adapter: Adapter) -> dict[str, str]:
    """What must be the same for a state to fit."""
    backbone = asdict(adapter.backbone.fingerprint)
    return {
        **{f"backbone's {name}": value for name, value in backbone.items()},
        "method": adapter.method.spec,
        "window": str(adapter.window.size),
        "pace": f"adapt_every={adapter.pace.adapt_every}, budget={adapter.pace.budget}",
    }


def _copied(tensors: Tensors) -> Tensors:
    return {name: tensor.detach().clone() for name, tensor in tensors.items()}


@torch.inference_mode(False)
def restore(adapter: Adapter, state: dict[str, Any]) -> None:
    """Bring an adapter of the same backbone and method to where ``state`` was captured."""
    _refuse_strangers(_origin(adapter), state["made_by"])
    shape = state["sample_shape"]
    adapter.begin_again(None if shape is None else tuple(shape), state["seed"])
    with torch.no_grad():
        for name, param in adapter.params.items():
            param.copy_(state["params"][name])
    adapter.statistics = _copied(state["statistics"])
    adapter.window.load(_copied(state["window"]))
    adapter.memory = {
        name: _filled(memory, _copied(state["memory"].get(name, {})))
        for name, memory in adapter.memory.items()
    }
    adapter.restore_optimizer({int(i): _copied(values) for i, values in state["optimizer"].items()})
    adapter.generator.set_state(state["generator"].cpu())
    adapter.counters = Counters(**state["counters"])
    adapter.pace.load(state["pace"])


def _filled(memory: Tensors, saved: Tensors) -> Tensors:
    """The saved tensors in the memory's own order, which the optimiser counts trained ones by."""
    names = [*(name for name in memory if name in saved), *(n for n in saved if n not in memory)]
    return {
        name: saved[name].requires_grad_(name in memory and memory[name].requires_grad)
        for name in names
    }


def _refuse_strangers(here: dict[str, str], saved: dict[str, str]) -> None:
    for name, value in here.items():
        if saved.get(name) != value:
            raise ValueError(
                f"this state belongs to another stream: its {name} is {saved.get(name)}, "
                f"here it is {value}"
            )


def write(path: str | os.PathLike[str], state: dict[str, Any]) -> None:
    """Save a state, whole or not at all; a readable copy of the manifest stands beside it."""
    tensors: Tensors = {"generator": state["generator"]}
    for group, depth in GROUPS.items():
        for name, value in state[group].items():
            if depth == 1:
                tensors[f"{group}/{name}"] = value.contiguous()
            else:
                tensors |= {f"{group}/{name}/{key}": t.contiguous() for key, t in value.items()}
    manifest = {
        "trimtab": __version__,
        "saved": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        **{key: state[key] for key in ("made_by", "seed", "sample_shape", "counters", "pace")},
        "memory": list(state["memory"]),
    }
    readable = json.dumps(manifest, indent=2)
    write_whole(path, safetensors.torch.save(tensors, metadata={MANIFEST: readable}))
    write_whole(manifest_path(path), readable.encode())


def manifest_path(path: str | os.PathLike[str]) -> Path:
    """Where the readable copy of a saved state's manifest stands."""
    return Path(path).with_suffix(".json")


def read_manifest(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The manifest inside a saved state: version, time, method, backbone, counters."""
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
    except safetensors.SafetensorError as error:
        raise ValueError(f"{path} is not a saved state, or is damaged: {error}") from error
    if MANIFEST not in metadata:
        raise ValueError(f"{path} is not a state that trimtab saved: it has no manifest")
    manifest: dict[str, Any] = json.loads(metadata[MANIFEST])
    return manifest


def read(path: str | os.PathLike[str], device: torch.device) -> dict[str, Any]:
    """The state that ``write`` saved, its tensors on ``device``."""
    state = read_manifest(path)
    names = state.pop("memory")
    state |= {group: {} for group in GROUPS}
    state["memory"] = {name: {} for name in names}
    for path_, tensor in safetensors.torch.load_file(path, device=str(device)).items():
        group, *rest = path_.split("/", GROUPS.get(path_.split("/")[0], 0))
        if not rest:
            state[group] = tensor
        elif len(rest) == 1:
            state[group][rest[0]] = tensor
        else:
            state[group].setdefault(rest[0], {})[rest[1]] = tensor
    return state
