"""Example images in a store: ``examples/ID.json``, small PNGs by domain; no torch is needed."""

import base64
import hashlib
import json
import os
from collections.abc import Mapping
from typing import NamedTuple

from trimtab.bench.records import Records
from trimtab.bench.spec import RunSpec


class Shown(NamedTuple):
    """What decides how images look: their data, and how strong corruptions are."""

    data: str
    severity: int

    @classmethod
    def of(cls, spec: RunSpec) -> "Shown":
        """Of a run's stream."""
        return cls(spec.data, spec.severity)

    @property
    def id(self) -> str:
        """A name for files."""
        return hashlib.sha256(f"{self.data}/{self.severity}".encode()).hexdigest()[:16]


Examples = dict[Shown, dict[str, bytes]]
"""PNG files by data and severity, then by domain in the order of the stream."""


class ExampleFiles:
    """The examples of a store."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.records: Records = Records(folder, "examples", "example images")

    def has(self, shown: Shown) -> bool:
        """Whether there are examples of these images."""
        return self.records.read(shown.id, json.loads) is not None

    def put(self, shown: Shown, images: Mapping[str, bytes]) -> None:
        """Keep examples in place of earlier ones."""
        files = {domain: base64.b64encode(file).decode() for domain, file in images.items()}
        text = json.dumps({"data": shown.data, "severity": shown.severity, "images": files})
        self.records.write(shown.id, text)

    def read(self) -> Examples:
        """All that there are."""
        return dict(sorted(self.records.read_all(_parsed)))


def _parsed(text: str) -> tuple[Shown, dict[str, bytes]]:
    values = json.loads(text)
    images = {str(name): base64.b64decode(file) for name, file in values["images"].items()}
    return Shown(str(values["data"]), int(values["severity"])), images
