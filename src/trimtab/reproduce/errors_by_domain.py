"""Generalisation: errors on the domain adapted to, on other domains and on the source."""

from collections.abc import Mapping

from trimtab.report.averages import mean
from trimtab.streams.domains import CLEAN

PLACES = ("same domain", "other domains", "source")

Errors = Mapping[str, Mapping[str, Mapping[str, float]]]
"""In %, by domain adapted to, then by loss, ensembling and learning rate, then by domain seen."""


def mean_error(errors: Errors, way: str, place: str) -> float | None:
    """The mean over the domains adapted to and those of the place; None without any."""
    return mean(
        error
        for domain, ways in errors.items()
        for seen, error in ways[way].items()
        if place == _place(domain, seen)
    )


def _place(domain: str, seen: str) -> str:
    if seen == CLEAN:
        return PLACES[2]
    return PLACES[0] if seen == domain else PLACES[1]
