"""Kills processes that predict, at every moment that could matter, and lets others go on.

``python crashes.py FOLDER``: FOLDER/images are predicted to FOLDER/whole.csv undisturbed and to
FOLDER/killed.csv by processes that are killed again and again. Prints how many were killed.
"""

import os
import signal
import sys
from itertools import count
from pathlib import Path
from typing import Any

import torch

from predict.pictures import tiny_net
from trimtab.predict import journal
from trimtab.predict.images import predict_images

torch.set_num_threads(1)


def predict(out: Path) -> None:
    images = [out.parent / "images", out.parent / "more"]
    predict_images(images, tiny_net(), "tent", out=out, batch_size=4, checkpoint_seconds=0)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def killed_at(moment: int, out: Path) -> bool:
    """Predict in a process that dies at the given moment; False if it came to its end."""
    child = os.fork()
    if child == 0:
        _prepare_to_die(moment)
        predict(out)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def _prepare_to_die(moment: int) -> None:
    """Of three kinds: before or after a file is synced to disk, or in the middle of a row."""
    number, kind = divmod(moment, 3)
    sync, append, calls = os.fsync, journal.Journal.append, count()

    def syncing(handle: int) -> None:
        now = next(calls) == number
        if now and kind == 0:
            die()
        sync(handle)
        if now and kind == 1:
            die()

    def appending(self: Any, rows: list[list[str]]) -> None:
        if next(calls) == number:
            append(self, rows)
            size = self.out.stat().st_size
            os.truncate(self.out, size - len(rows[-1][0]) // 2)
            die()
        append(self, rows)

    if kind == 2:
        journal.Journal.append = appending  # type: ignore[method-assign]
    else:
        os.fsync = syncing  # type: ignore[assignment]


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    predict(folder / "whole.csv")
    deaths = 0
    for moment in range(15):
        deaths += killed_at(moment, folder / "killed.csv")
    predict(folder / "killed.csv")
    print(deaths)
