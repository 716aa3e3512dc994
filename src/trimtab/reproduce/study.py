"""Measurements that are no runs along a stream, each kept as a file of its own."""

import hashlib
import importlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trimtab.core.files import write_whole

Record = Mapping[str, Any]
"""What a study found, as plain values for JSON."""


@dataclass(frozen=True)
class Study:
    """One measurement: ``measure(**settings)`` of the module ``trimtab.reproduce.studies.KIND``.

    Args:
        kind: Name of the module.
        settings: All that decides the outcome, as plain values for JSON.
    """

    kind: str
    settings: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The same for equal studies, on every machine: 16 hexadecimal digits."""
        return hashlib.sha256(self._canonical().encode()).hexdigest()[:16]

    @property
    def label(self) -> str:
        """For people: the kind and its settings."""
        return f"{self.kind}({', '.join(f'{k}={v}' for k, v in self.settings.items())})"

    def measure(self) -> Record:
        """Do it."""
        module = importlib.import_module(f"trimtab.reproduce.studies.{self.kind}")
        record: Record = module.measure(**self.settings)
        return record

    @property
    def forwards(self) -> int | None:
        """Plain forward passes of samples that it takes as long as, where its kind says."""
        module = importlib.import_module(f"trimtab.reproduce.studies.{self.kind}")
        return module.forwards(**self.settings) if hasattr(module, "forwards") else None

    def _canonical(self) -> str:
        words = {"kind": self.kind, "settings": dict(self.settings)}
        return json.dumps(words, sort_keys=True, separators=(",", ":"))


class StudyStore:
    """The folder ``studies`` beside a store's runs: a JSON a study, written whole or not at all."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder) / "studies"

    def get(self, study: Study) -> Record | None:
        """What the study found, if it is done."""
        path = self.folder / f"{study.id}.json"
        if not path.exists():
            return None
        try:
            record: Record = json.loads(path.read_text())["record"]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path} is not a study that trimtab wrote: {error}") from error
        return record

    def put(self, study: Study, record: Record) -> None:
        """Keep what a study found."""
        self.folder.mkdir(parents=True, exist_ok=True)
        values = {"kind": study.kind, "settings": dict(study.settings), "record": record}
        text = json.dumps(values, indent=1, allow_nan=False)
        write_whole(self.folder / f"{study.id}.json", text.encode())
