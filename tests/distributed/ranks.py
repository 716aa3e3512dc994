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

TIMEOUT_SECONDS = 30.0


def run(
    function: str, size: int, folder: Path, *options: str, seconds: float = 240
) -> list[Any | None]:
    """What ``function`` ("module.name", called with the group) returns on each rank.

    None stands for a rank that died before it returned.
    """
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "error", __file__, function, str(folder), str(size)]
    ranks = [
        subprocess.Popen([*command, str(rank), *options], env=environment) for rank in range(size)
    ]
    try:
        for process in ranks:
            process.wait(seconds)
    finally:
        for process in ranks:
            process.kill()
    results = [folder / f"{rank}.pt" for rank in range(size)]
    return [torch.load(r, weights_only=False) if r.exists() else None for r in results]


def main(function: str, folder: str, size: str, rank: str, *options: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo",
        init_method=f"file://{folder}/store",
        rank=int(rank),
        world_size=int(size),
        timeout=datetime.timedelta(seconds=TIMEOUT_SECONDS),
    )
    module, name = function.rsplit(".", 1)
    result = getattr(importlib.import_module(module), name)(dist.group.WORLD, *options)
    torch.save(result, Path(folder) / f"{rank}.pt")
    os._exit(0)  # ranks may be gone by now, so nothing is said to them


if __name__ == "__main__":
    main(*sys.argv[1:])
