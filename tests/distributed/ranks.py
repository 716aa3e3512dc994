"""Run functions on every rank of small gloo groups, each in a process of its own."""

import datetime
import importlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

TIMEOUT_SECONDS = 60.0

Found = dict[str, list[Any | None]]


def run(functions: dict[int, list[str]], folder: Path, seconds: float = 400) -> dict[int, Found]:
    """By the number of ranks and a function's name, what it returned on each; None if one died.

    To import torch is dear, so it is done once: ranks are forked from a process that has done it,
    which is a new one, as a test's own has threads.

    Args:
        functions: By the number of ranks, as ``"module.name"`` or ``"module.name:argument"``, each
            called with the group.
    """
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    ignored = "ignore:this network has batch norms, and:UserWarning"  # as in every test
    command = [sys.executable, "-W", "error", "-W", ignored, __file__]
    for size, wanted in functions.items():
        place = folder / str(size)
        place.mkdir()
        command += [str(place), str(size), ",".join(wanted)]
    process = subprocess.Popen(command, env=environment, start_new_session=True)
    try:
        process.wait(seconds)
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
    return {
        size: {
            name: [_found(folder / str(size) / f"{name}.{rank}") for rank in range(size)]
            for name in map(_name, wanted)
        }
        for size, wanted in functions.items()
    }


def _name(function: str) -> str:
    return function.partition(":")[0].rsplit(".", 1)[1]


def _found(file: Path) -> Any | None:
    return torch.load(file, weights_only=False) if file.exists() else None


def main(*words: str) -> None:
    """One group after the other; three words for each: a folder, its size, its functions."""
    torch.set_num_threads(1)
    groups = [words[first : first + 3] for first in range(0, len(words), 3)]
    calls = {text: _called(text) for _, _, texts in groups for text in texts.split(",")}
    for folder, size, texts in groups:
        ranks = []
        for rank in range(int(size)):
            if not (process := os.fork()):
                _as_rank(Path(folder), rank, int(size), [calls[text] for text in texts.split(",")])
            ranks.append(process)
        for process in ranks:
            os.waitpid(process, 0)


def _called(function: str) -> tuple[str, Any, list[str]]:
    """A function's name, itself and its arguments."""
    path, _, argument = function.partition(":")
    module, name = path.rsplit(".", 1)
    return name, getattr(importlib.import_module(module), name), [argument] if argument else []


def _as_rank(folder: Path, rank: int, size: int, calls: list[tuple[str, Any, list[str]]]) -> None:
    """All that a rank does; its process ends here, whatever happens."""
    try:
        dist.init_process_group(
            "gloo",
            init_method=f"file://{folder}/store",
            rank=rank,
            world_size=size,
            timeout=datetime.timedelta(seconds=TIMEOUT_SECONDS),
        )
        for name, call, arguments in calls:
            result = call(dist.group.WORLD, *arguments)
            torch.save(result, folder / f"{name}.{rank}")
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
    finally:
        os._exit(0)  # ranks may be gone by now, so nothing is said to them


if __name__ == "__main__":
    main(*sys.argv[1:])
