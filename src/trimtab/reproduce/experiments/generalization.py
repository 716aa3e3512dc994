"""Figures 1 and 5: adapt to one domain, more or less strongly, and look at all the others."""

import statistics
from collections.abc import Mapping

from trimtab import models
from trimtab.bench.spec import RunSpec
from trimtab.core.optimizer import SMALL_IMAGE_SIDE
from trimtab.core.spec import terms
from trimtab.report.plots.matrix import change_matrix
from trimtab.reproduce.analysis import Analysis, Claim, Figure, Number, NumberTable
from trimtab.reproduce.experiment import Experiment
from trimtab.reproduce.findings import Findings
from trimtab.reproduce.setup import Setup
from trimtab.reproduce.study import Study
from trimtab.streams.corruptions import BENCHMARK

SEVERITY = 3
NATURAL = ("imagenet_r", "imagenet_sketch", "imagenet_d109")
"""Data without corruptions, of which there is no milder version."""

TITLES = {
    "entropy": "entropy minimisation",
    "supervised": "supervised fine-tuning",
    "diverse": "diversity-regularised self-training",
}
WAYS = {"plain": "", "ensembled": ", with weight ensembling"}
SOURCE = "clean"
FULL_COLOUR = 10.0

Errors = Mapping[str, Mapping[str, Mapping[str, float]]]
"""In %, by domain adapted to, then by loss, ensembling and learning rate, then by domain seen."""


def rates(setup: Setup) -> tuple[float, float]:
    """A moderate and a strong learning rate: the paper's, or ten times these for Adam.

    Small images are adapted with Adam at 1e-3 by the literature, so that is moderate there.
    """
    side = models.describe(setup.main).preprocessing.input_size or 32
    return (1e-3, 1e-2) if side <= SMALL_IMAGE_SIDE else (1e-4, 1e-3)


def adapted_domains(setup: Setup) -> tuple[str, ...]:
    """All; in a hurry one each of noise, blur, weather and digital artefacts."""
    if terms(setup.data)[0].name in NATURAL:
        return ()
    return BENCHMARK[::4] if setup.quick else BENCHMARK


def runs(_setup: Setup) -> list[RunSpec]:
    """None: the order of images along a stream is no matter here."""
    return []


def studies(setup: Setup) -> list[Study]:
    """One for each domain; four fifths of the images to adapt to, one to evaluate on."""
    images = setup.images_per_domain
    settings = {
        "data": setup.data,
        "model": setup.main,
        "weights": models.describe(setup.main).fingerprint,
        "rates": rates(setup),
        "images": None if images is None else 4 * images,
        "severity": SEVERITY,
        "batch_size": setup.batch_size,
        "seed": setup.seeds[0],
    }
    return [
        Study("generalization", settings | {"domain": domain}) for domain in adapted_domains(setup)
    ]


def analyse(findings: Findings) -> Analysis:
    """A heat map of what the stronger adaptation changes for each loss, and the means."""
    errors = {study.settings["domain"]: record["errors"] for study, record in findings.records}
    moderate, strong = (f"{rate:g}" for rate in rates(findings.setup))
    if not errors:
        return Analysis(claims=_claims({}, moderate, strong))
    figures = [
        _figure(errors, f"{loss}/{way}", moderate, strong) for loss in TITLES for way in WAYS
    ]
    return Analysis(
        [_table(findings.setup, errors, moderate, strong)],
        figures,
        _claims(errors, moderate, strong),
    )


def _figure(errors: Errors, way: str, moderate: str, strong: str) -> Figure:
    loss, _, ensembling = way.partition("/")
    title = f"{TITLES[loss]}{WAYS[ensembling]}".capitalize()
    changes = {
        domain: {
            other: error - found[f"{way}/{moderate}"][other]
            for other, error in found[f"{way}/{strong}"].items()
        }
        for domain, found in errors.items()
    }
    columns = list(next(iter(changes.values())))
    caption = (
        f"Error at learning rate {strong} minus error at {moderate}, in points. Rows: the domain "
        "adapted to; columns: the domain seen then, on images held out; last the source."
    )
    return Figure(title, caption, change_matrix(title, changes, columns, FULL_COLOUR), wide=True)


def _table(setup: Setup, errors: Errors, moderate: str, strong: str) -> NumberTable:
    columns = tuple(f"{words}, lr {rate}" for words in PLACES for rate in (moderate, strong))
    rows = [
        (
            f"{TITLES[loss]}{WAYS[way]}",
            tuple(
                Number(_mean(errors, f"{loss}/{way}/{rate}", place))
                for place in PLACES
                for rate in (moderate, strong)
            ),
        )
        for loss in TITLES
        for way in WAYS
    ]
    title = f"Error in % on held-out images of {setup.data}, {setup.main}, severity {SEVERITY}"
    return NumberTable(title, columns, tuple(rows))


PLACES = ("same domain", "other domains", "source")


def _mean(errors: Errors, way: str, place: str) -> float | None:
    """The mean error over the domains adapted to."""
    found = [
        error
        for domain, ways in errors.items()
        for other, error in ways[way].items()
        if place == _place(domain, other)
    ]
    return statistics.fmean(found) if found else None


def _place(domain: str, other: str) -> str:
    if other == SOURCE:
        return PLACES[2]
    return PLACES[0] if other == domain else PLACES[1]


def _claims(errors: Errors, moderate: str, strong: str) -> list[Claim]:
    claims = []
    for loss, words in TITLES.items():
        plain, ensembled = f"{loss}/plain", f"{loss}/ensembled"
        for place, falls in zip(PLACES, (True, False, False), strict=True):
            claims.append(
                _ordered(
                    f"Adapting more strongly {'lowers' if falls else 'raises'} the error on the "
                    f"{place} ({words}).",
                    [_mean(errors, f"{plain}/{rate}", place) for rate in (moderate, strong)],
                    ("moderate", "strong"),
                    falls=falls,
                )
            )
        for place in PLACES[1:]:
            claims.append(
                _ordered(
                    f"After strong adaptation, weight ensembling lowers the error on the {place} "
                    f"({words}).",
                    [_mean(errors, f"{way}/{strong}", place) for way in (plain, ensembled)],
                    ("without", "with"),
                    falls=True,
                )
            )
    return claims


def _ordered(text: str, pair: list[float | None], names: tuple[str, str], *, falls: bool) -> Claim:
    first, second = pair
    if first is None or second is None:
        return Claim(text, None)
    numbers = f"{names[0]} {first:.1f}, {names[1]} {second:.1f}"
    return Claim(text, second < first if falls else second > first, numbers)


EXPERIMENT = Experiment(
    title="Loss of generalisation",
    paper="Figures 1 and 5",
    question="What does adapting to one domain cost on the others, and on the source?",
    runs=runs,
    analyse=analyse,
    studies=studies,
    needs="corrupted images",
)
