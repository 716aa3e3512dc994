"""Studies: measurements that are no runs along a stream, each kept as a file of its own."""

import hashlib
import importlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trimtab.bench.records import Records

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
        """What the study finds, as plain values for JSON."""
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
    """What studies found: ``studies/ID.json`` in the folder that keeps a store's runs."""

    def __init__(self, folder: str | Path) -> None:
        self.records = Records(folder, "studies", "a study")

    def get(self, study: Study) -> Record | None:
        """What the study found, if it is done."""
        return self.records.read(study.id, lambda text: json.loads(text)["record"])

    def put(self, study: Study, record: Record) -> None:
        """Keep what a study found."""
        values = {"kind": study.kind, "settings": dict(study.settings), "record": record}
        self.records.write(study.id, json.dumps(values, indent=1, allow_nan=False))
