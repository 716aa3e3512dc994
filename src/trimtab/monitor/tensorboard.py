"""Curves of a stream's health in TensorBoard: ``pip install 'trimtab[tensorboard]'``."""

import os
from typing import Any

from trimtab.core.guard.health import Health
from trimtab.monitor.needs import missing


class TensorBoard:
    """Writes each number of a stream's health as a scalar, by samples.

    Args:
        folder: Where TensorBoard looks for runs.
        prefix: Before the names of the curves.
    """

    def __init__(self, folder: str | os.PathLike[str], prefix: str = "trimtab") -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise missing("tensorboard", error) from error
        self.prefix = prefix
        self._writer: Any = SummaryWriter(os.fspath(folder))

    def __call__(self, health: Health) -> None:
        for name, value in health.numbers().items():
            self._writer.add_scalar(f"{self.prefix}/{name}", value, health.samples)
        self._writer.flush()
