"""Suites: grids of runs, written in TOML.

A suite has a ``title``, a ``[defaults]`` table and any number of ``[[grid]]`` tables. A list in
a grid stands for each of its values, and every combination is a run. ``method`` entries may be
tables with ``name`` and options. Fields are those of RunSpec. TOML has no null, so the word
``"none"`` stands for it.
"""

import itertools
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

from trimtab.bench.spec import RunSpec
from trimtab.registry import Registry

if sys.version_info >= (3, 11):
    from importlib.resources.abc import Traversable

    import tomllib
else:
    from importlib.abc import Traversable

    import tomli as tomllib


@dataclass(frozen=True)
class Suite:
    """Runs that belong together."""

    name: str
    title: str
    runs: tuple[RunSpec, ...]


def _ready_made() -> dict[str, Traversable]:
    files = (resources.files("trimtab.bench") / "suites").iterdir()
    return {file.name.removesuffix(".toml"): file for file in sorted(files, key=lambda f: f.name)}


def _adopted(name: str, found: Any) -> Traversable:
    """The file that a plug-in's path, or what its function returns, names."""
    path = found() if callable(found) else found
    if not isinstance(path, (str, PathLike)):
        raise ValueError(f"suite {name!r} must be the path of a TOML file, got {path!r}")
    return Path(path)


SUITES: Registry[Traversable] = Registry(
    "suite", _ready_made(), adopt=_adopted, spellings=("a file that ends in .toml",)
)
"""TOML files by name."""


def load(name: str, changes: Mapping[str, Any] | None = None) -> Suite:
    """A ready-made suite by its name, or one from a ``.toml`` file.

    ``changes`` replace fields of every run, before equal runs are joined.
    """
    file = Path(name) if name.endswith(".toml") else SUITES.find(name)
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{name} is not valid TOML: {error}") from error
    return _suite(name, table, changes or {})


def _suite(name: str, table: Mapping[str, Any], changes: Mapping[str, Any]) -> Suite:
    defaults = table.get("defaults", {})
    runs: dict[str, RunSpec] = {}
    for included in table.get("include", []):
        runs |= {spec.id: spec for spec in load(included, changes).runs}
    for grid in table.get("grid", []):
        for fields in _combinations({**defaults, **grid}):
            spec = RunSpec.from_json({**fields, **changes})
            runs[spec.id] = spec
    if not runs:
        raise ValueError(f"{name} holds no runs: it needs a [[grid]] or include = [...]")
    return Suite(name, str(table.get("title", name)), tuple(runs.values()))


def _combinations(grid: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    choices = [value if isinstance(value, list) else [value] for value in grid.values()]
    for values in itertools.product(*choices):
        fields = dict(zip(grid, values, strict=True))
        method = fields["method"]
        if isinstance(method, Mapping):
            options = {
                key: None if value == "none" else value
                for key, value in method.items()
                if key != "name"
            }
            fields |= {"method": method["name"], "options": options}
        yield fields
