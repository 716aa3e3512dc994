"""Suites: grids of runs, written in TOML.

A suite has a ``title``, a ``[defaults]`` table and any number of ``[[grid]]`` tables. A list in
a grid stands for each of its values, and every combination is a run. ``method`` entries may be
tables with ``name`` and options. Fields are those of RunSpec. TOML has no null, so the word
``"none"`` stands for it.
"""

import itertools
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

from trimtab.bench.spec import RunSpec
from trimtab.bench.typed import shown
from trimtab.core.spec import choice
from trimtab.registry import Registry

if sys.version_info >= (3, 11):
    from importlib.resources.abc import Traversable

    import tomllib
else:
    from importlib.abc import Traversable

    import tomli as tomllib


MOST_RUNS = 100_000
"""Most runs of one grid: more are a mistake, and would fill the memory before any could begin."""


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

    ``changes`` replace fields of every run, before equal runs are joined. Whatever is wrong with
    the file is a ValueError that names the file and the key.
    """
    return _load(name, changes or {}, ())


def _load(name: str, changes: Mapping[str, Any], including: tuple[str, ...]) -> Suite:
    if name in including:
        raise ValueError(f"{name} includes itself: {' > '.join((*including, name))}")
    file = Path(name) if name.endswith(".toml") else SUITES.find(name)
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
        _check(table)
        return _suite(name, table, changes, (*including, name))
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is not valid TOML: it is no UTF-8 text ({error})") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ValueError(f"{name} is not valid TOML: {error}") from error
    except ValueError as error:
        told = str(error).startswith(f"{name}")
        raise ValueError(str(error) if told else f"{name}: {error}") from error


def _check(table: Mapping[str, Any]) -> None:
    """That the file has the parts of a suite and no others, each of its kind."""
    for key, value in table.items():
        choice("key of a suite", key, PARTS)
        if not PARTS[key][0](value):
            raise ValueError(f"{key} must be {PARTS[key][1]}, got {shown(value)}")


def _are(kind: type, values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, kind) for value in values)


PARTS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "title": (lambda value: isinstance(value, str), "text"),
    "defaults": (lambda value: isinstance(value, Mapping), "a table: [defaults]"),
    "include": (lambda value: _are(str, value), "a list of suites' names"),
    "grid": (lambda value: _are(dict, value), "tables, each headed [[grid]]"),
}
"""What a suite's file may hold: a check and what it asks for, by key."""


def _suite(
    name: str, table: Mapping[str, Any], changes: Mapping[str, Any], including: tuple[str, ...]
) -> Suite:
    defaults = table.get("defaults", {})
    runs: dict[str, RunSpec] = {}
    for included in table.get("include", []):
        runs |= {spec.id: spec for spec in _load(included, changes, including).runs}
    for number, grid in enumerate(table.get("grid", []), start=1):
        try:
            specs = [
                RunSpec.from_json({**fields, **changes})
                for fields in _combinations({**defaults, **grid})
            ]
        except ValueError as error:
            raise ValueError(f"[[grid]] {number}: {error}") from error
        runs |= {spec.id: spec for spec in specs}
    if not runs:
        raise ValueError(f"{name} holds no runs: it needs a [[grid]] or include = [...]")
    return Suite(name, str(table.get("title", name)), tuple(runs.values()))


def _combinations(grid: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    choices = [value if isinstance(value, list) else [value] for value in grid.values()]
    count = math.prod(map(len, choices))
    if count > MOST_RUNS:
        raise ValueError(f"a grid may stand for {MOST_RUNS:,} runs at most, got {count:,}")
    for values in itertools.product(*choices):
        fields = {key: _value(value) for key, value in zip(grid, values, strict=True)}
        method = fields.get("method")
        if isinstance(method, Mapping):
            if "name" not in method:
                raise ValueError(f"a method in brackets needs a name, got {shown(dict(method))}")
            options = {key: _value(value) for key, value in method.items() if key != "name"}
            fields |= {"method": method["name"], "options": options}
        yield fields


def _value(value: Any) -> Any:
    return None if value == "none" else value
