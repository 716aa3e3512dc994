"""Figures 1 and 5: adapt to one domain, more or less strongly, and look at all the others."""

from trimtab import models
from trimtab.bench.spec import RunSpec
from trimtab.core.spec import single_term
from trimtab.image_size import SMALL_IMAGE_SIDE
from trimtab.report.plots.matrix import change_matrix
from trimtab.reproduce.analysis import Analysis, Claim, Figure, Number, NumberTable, change
from trimtab.reproduce.errors_by_domain import PLACES, Errors, mean_error
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
FULL_COLOUR = 10.0


def rates(setup: Setup) -> tuple[float, float]:
    """A moderate and a strong learning rate: the paper's, or ten times these for Adam.

    Small images are adapted with Adam at 1e-3 by the literature, so that is moderate there.
    """
    side = models.describe(setup.main).preprocessing.input_size or 32
    return (1e-3, 1e-2) if side <= SMALL_IMAGE_SIDE else (1e-4, 1e-3)


def adapted_domains(setup: Setup) -> tuple[str, ...]:
    """All; in a hurry one each of noise, blur, weather and digital artefacts."""
    if single_term(setup.data).name in NATURAL:
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
        "weights": models.fingerprint(setup.main),
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
                Number(mean_error(errors, f"{loss}/{way}/{rate}", place))
                for place in PLACES
                for rate in (moderate, strong)
            ),
        )
        for loss in TITLES
        for way in WAYS
    ]
    title = f"Error in % on held-out images of {setup.data}, {setup.main}, severity {SEVERITY}"
    return NumberTable(title, columns, tuple(rows))


def _claims(errors: Errors, moderate: str, strong: str) -> list[Claim]:
    return [
        claim
        for loss, words in TITLES.items()
        for claim in (
            *_stronger(errors, f"{loss}/plain", words, (moderate, strong)),
            *_ensembled(errors, loss, words, strong),
        )
    ]


def _stronger(errors: Errors, way: str, words: str, pair: tuple[str, str]) -> list[Claim]:
    return [
        change(
            f"Adapting more strongly {'lowers' if falls else 'raises'} the error on the {place} "
            f"({words}).",
            mean_error(errors, f"{way}/{pair[0]}", place),
            mean_error(errors, f"{way}/{pair[1]}", place),
            ("moderate", "strong"),
            falls=falls,
        )
        for place, falls in zip(PLACES, (True, False, False), strict=True)
    ]


def _ensembled(errors: Errors, loss: str, words: str, rate: str) -> list[Claim]:
    return [
        change(
            f"After strong adaptation, weight ensembling lowers the error on the {place} "
            f"({words}).",
            mean_error(errors, f"{loss}/plain/{rate}", place),
            mean_error(errors, f"{loss}/ensembled/{rate}", place),
            ("without", "with"),
            falls=True,
        )
        for place in PLACES[1:]
    ]


EXPERIMENT = Experiment(
    title="Loss of generalisation",
    paper="Figures 1 and 5",
    question="What does adapting to one domain cost on the others, and on the source?",
    runs=runs,
    analyse=analyse,
    studies=studies,
    needs="corrupted images; for the source clean ones: imagenet_c(clean='imagenet')",
)
