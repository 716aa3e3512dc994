"""Run a function on every rank of a small gloo group, each in a process of its own."""

import datetime
import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

TIMEOUT_SECONDS = 60.0


def run(
    functions: list[str], size: int, folder: Path, seconds: float = 400
) -> dict[str, list[Any | None]]:
    """What functions return on each rank, by their names; None for a rank that died in one.

    Args:
        functions: As ``"module.name"`` or ``"module.name:argument"``, each called with the group.
    """
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    ignored = "ignore:this network has batch norms, and:UserWarning"  # as in every test
    command = [sys.executable, "-W", "error", "-W", ignored, __file__, str(folder), str(size)]
    ranks = [
        subprocess.Popen([*command, str(rank), *functions], env=environment) for rank in range(size)
    ]
    try:
        for process in ranks:
            process.wait(seconds)
    finally:
        for process in ranks:
            process.kill()
    names = [_name(function) for function in functions]
    return {name: [_found(folder / f"{name}.{rank}") for rank in range(size)] for name in names}


def _name(function: str) -> str:
    return function.partition(":")[0].rsplit(".", 1)[1]


def _found(file: Path) -> Any | None:
    return torch.load(file, weights_only=False) if file.exists() else None


def main(folder: str, size: str, rank: str, *functions: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo",
        init_method=f"file://{folder}/store",
        rank=int(rank),
        world_size=int(size),
        timeout=datetime.timedelta(seconds=TIMEOUT_SECONDS),
    )
    for function in functions:
        path, _, argument = function.partition(":")
        module, name = path.rsplit(".", 1)
        call = getattr(importlib.import_module(module), name)
        result = call(dist.group.WORLD, *([argument] if argument else []))
        torch.save(result, Path(folder) / f"{name}.{rank}")
    os._exit(0)  # ranks may be gone by now, so nothing is said to them


if __name__ == "__main__":
    main(*sys.argv[1:])
