"""Specs before they are run: their words checked, their weights named, the longest first."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from trimtab import methods, models, streams
from trimtab.bench.spec import RunSpec
from trimtab.core.guard import settings as guard
from trimtab.core.method import Method
from trimtab.core.spec import single_term
from trimtab.streams.data import DATASETS


def planned(specs: Iterable[RunSpec], where: str) -> list[RunSpec]:
    """The same specs with fingerprints, once all of their words are known to mean something.

    ``where`` they come from stands in front of what is said of a wrong one.
    """
    specs = list(specs)
    for spec in specs:
        _check(spec, where)
    return with_fingerprints(specs)


def longest_first(specs: Iterable[RunSpec]) -> list[RunSpec]:
    """Runs in an order that lets no process end alone with a long one: dear methods first."""
    return sorted(specs, key=_cost, reverse=True)


def with_fingerprints(specs: Iterable[RunSpec]) -> list[RunSpec]:
    """The same specs with each model's weights in them, where they have a hash."""
    specs = list(specs)
    weights = {name: models.fingerprint(name) for name in {spec.model for spec in specs}}
    return [replace(spec, weights=weights[spec.model]) for spec in specs]


def _cost(spec: RunSpec) -> tuple[float, bool, int]:
    """How dear a run is compared to others: images, whether it learns, how many ideas it has."""
    method = _method(spec)
    images = float("inf") if spec.images_per_domain is None else spec.images_per_domain
    return images, method.learns, len(method.components)


def _check(spec: RunSpec, where: str) -> None:
    _read(where, "method", spec.label, lambda _: _method(spec))
    _read(where, "model", spec.model, models.describe)
    _read(where, "data", spec.data, lambda words: DATASETS.find(single_term(words).name))
    _read(where, "scenario", spec.scenario, streams.scenario)


def _method(spec: RunSpec) -> Method:
    options = dict(spec.options)
    guard.chosen(options.pop("guard", None))  # of the stream, whichever method it has
    if options.get("source_data") == "source":
        options["source_data"] = [()]  # the runner opens the images when it is time
    return methods.build(spec.method, **options)


def _read(where: str, key: str, words: str, read: Callable[[str], Any]) -> Any:
    try:
        return read(words)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{where}: {key} {words}: {error}") from error
