"""The numbers that the ROID paper publishes, so that runs on the same data stand beside them."""

import math
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from trimtab.bench.result import RunResult
from trimtab.bench.spec import RunSpec
from trimtab.report.metrics import AVERAGES, DOMAIN_ERROR, ERROR, Metric

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ENSEMBLING_ALONE: dict[str, bool | None] = {"consistency": False, "prior": None}
"""What the paper switches off to look at the momentum of weight ensembling."""


@cache
def tables() -> dict[str, Any]:
    """Everything in published.toml."""
    text = (resources.files("trimtab.report") / "published.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def published_error(run: RunResult, metric: Metric = ERROR) -> float | None:
    """The published error in % for a run that is done on the same images, network and stream.

    None unless all of these are the paper's: images and how many of them, network and its
    weights, scenario, severity, batch size, and options of the method. Where domains are of
    unequal size, the published number is their mean and is no other metric's.
    """
    papers = papers_options(names(run.spec)[0], run.spec.method)
    if not _same_conditions(run, metric) or _options(run.spec) != papers:
        return None
    return _of_settings(run.spec) or published_architecture(run, metric)


def published_architecture(run: RunResult, metric: Metric = ERROR) -> float | None:
    """The same, from the tables that compare architectures."""
    if not _same_conditions(run, metric) or _options(run.spec):
        return None
    data, model = names(run.spec)
    for entry in tables()["architectures"]:
        if model in entry["models"] and run.spec.scenario == entry["scenario"]:
            errors = entry["errors"].get(data, {}).get(run.spec.method)
            return _at(entry["models"], errors, model)
    return None


def published_momentum(run: RunResult) -> float | None:
    """The published error in % for a momentum of weight ensembling."""
    table, options = tables()["momentum"], _options(run.spec)
    momentum = options.pop("ensembling", None)
    data, model = names(run.spec)
    same = (data, run.spec.scenario) == (table["data"], table["scenario"])
    if not same or options != ENSEMBLING_ALONE or not _same_conditions(run, ERROR):
        return None
    return _at(table["momenta"], table["errors"].get(model), momentum)


def published_components() -> Mapping[str, Mapping[str, float]]:
    """Errors in % by step of the ablation and setting, averages over the paper's datasets."""
    steps: Mapping[str, Mapping[str, float]] = tables()["components"]["steps"]
    return steps


def papers_options(data: str, method: str) -> Mapping[str, Any]:
    """What the paper sets for a method on a dataset where Trimtab's own choice is another one."""
    options: Mapping[str, Any] = (
        tables()["conditions"].get(data, {}).get("options", {}).get(method, {})
    )
    return options


def papers_batch_size(data: str) -> int:
    """Samples in a batch of the paper; 64 for data that it does not have."""
    size: int = tables()["conditions"].get(data, {}).get("batch_size", 64)
    return size


def papers_images(data: str, scenario: str) -> int | None:
    """Images per domain in the paper, None for all: of one dataset it takes a part.

    Where classes are correlated, it takes all of them.
    """
    if "correlated" in scenario:
        return None
    count: int | None = tables()["conditions"].get(data, {}).get("images_per_domain")
    return count


def names(spec: RunSpec) -> tuple[str, str]:
    """Data and model without options and without the mask of the data's classes."""
    return spec.data.partition("(")[0].strip(), spec.model.partition("@")[0]


def _same_conditions(run: RunResult, metric: Metric) -> bool:
    spec, (data, model) = run.spec, names(run.spec)
    conditions = tables()["conditions"].get(data)
    if conditions is None or run.scores is None or metric not in (ERROR, DOMAIN_ERROR):
        return False
    average, mask = conditions.get("average"), spec.model.partition("@")[2]
    samples = conditions["samples"].get(spec.scenario.partition("(")[0])
    return (
        (average is None or metric is AVERAGES[average])
        and run.scores.samples == samples
        and mask == (data if conditions.get("masked") else "")
        and (spec.severity, spec.batch_size, spec.window) == (5, conditions["batch_size"], None)
        and spec.weights == tables()["weights"].get(model, spec.weights)
    )


def _of_settings(spec: RunSpec) -> float | None:
    data, model = names(spec)
    for entry in tables()["error"]:
        errors = entry["errors"].get(data, {}).get(model)
        if errors is not None and entry["scenario"] == spec.scenario:
            return _at(entry["methods"], errors, spec.method)
    return None


def _options(spec: RunSpec) -> dict[str, Any]:
    """Options but for source images, which some methods cannot do without."""
    return {name: value for name, value in spec.options.items() if name != "source_data"}


def _at(keys: Sequence[Any], values: Sequence[float] | None, key: Any) -> float | None:
    if values is None or key not in keys:
        return None
    value = values[keys.index(key)]
    return None if math.isnan(value) else value
