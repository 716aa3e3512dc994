"""A line of comma-separated values for each look at a stream's health."""

import csv
import os
from dataclasses import fields
from pathlib import Path

from trimtab.core.guard.health import Health

COLUMNS = tuple(field.name for field in fields(Health) if field.name != "beliefs")


class CsvFile:
    """Adds a line to a file each time; what is not known stays empty.

    Beliefs of components are left out: which there are changes along a stream.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path: Path = Path(path)

    def __call__(self, health: Health) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not self.path.exists() or not self.path.stat().st_size
        with self.path.open("a", newline="") as file:
            writer = csv.writer(file)
            if is_new:
                writer.writerow(COLUMNS)
            values = (getattr(health, name) for name in COLUMNS)
            writer.writerow(["" if value is None else value for value in values])
