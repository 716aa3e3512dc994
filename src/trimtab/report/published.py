"""The numbers that the ROID paper publishes, so that runs on the same data stand beside them."""

import sys
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from trimtab.bench.spec import RunSpec

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@cache
def _tables() -> dict[str, Any]:
    text = (resources.files("trimtab.report") / "published.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def published_error(spec: RunSpec) -> float | None:
    """The published error in % for a run on the same data, network and stream; None if none is."""
    if spec.severity != 5 or spec.window is not None:
        return None
    if set(spec.options) - {"source_data"}:
        return None
    for entry in _tables()["error"]:
        if (entry["data"], entry["model"], entry["scenario"]) == (
            spec.data,
            spec.model,
            spec.scenario,
        ):
            found: float | None = entry["methods"].get(spec.method)
            return found
    return None


def published_components() -> Mapping[str, Mapping[str, float]]:
    """Errors in % by step of the ablation and setting, averages over the paper's datasets."""
    steps: Mapping[str, Mapping[str, float]] = _tables()["components"]["steps"]
    return steps


def published_momentum(data: str, model: str, momentum: float) -> float | None:
    """The published error in % for a momentum of weight ensembling."""
    table = _tables()["momentum"]
    if data != table["data"] or model not in table["errors"]:
        return None
    errors = dict(zip(table["momenta"], table["errors"][model], strict=True))
    found: float | None = errors.get(momentum)
    return found
