"""Specs with the weights that they will be run with."""

from collections.abc import Iterable
from dataclasses import replace

from trimtab import models
from trimtab.bench.spec import RunSpec


def with_fingerprints(specs: Iterable[RunSpec]) -> list[RunSpec]:
    """The same specs with each model's weights in them, where they have a hash."""
    specs = list(specs)
    weights = {name: models.fingerprint(name) for name in {spec.model for spec in specs}}
    return [replace(spec, weights=weights[spec.model]) for spec in specs]
