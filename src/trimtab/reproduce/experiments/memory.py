"""The appendix's table on memory: an update from a batch, and from single samples."""

from collections.abc import Mapping

from trimtab import models
from trimtab.report.plots.dots import dots
from trimtab.report.published_efficiency import published_memory
from trimtab.reproduce.analysis import Analysis, Claim, Figure, Number, NumberTable
from trimtab.reproduce.experiment import Experiment
from trimtab.reproduce.findings import Findings
from trimtab.reproduce.setup import Setup
from trimtab.reproduce.single_samples import (
    METHODS,
    error_table,
    stream_claims,
    stream_runs,
    streamed_networks,
)
from trimtab.reproduce.study import Study

SLIM = "trimtab.reproduce.studies.plain_transformer:slim"
LARGE_SIDE = 96
"""Pixels a side from which activations are large enough to be measured."""

PAPERS_BATCH = 64
TIMES_LESS = 5.0


def measured_networks(setup: Setup) -> tuple[str, ...]:
    """The setup's own where they take large images, otherwise a slim transformer that does."""
    sides = {name: models.describe(name).preprocessing.input_size for name in setup.uncoupled}
    return tuple(name for name, side in sides.items() if (side or 0) >= LARGE_SIDE) or (SLIM,)


def studies(setup: Setup) -> list[Study]:
    """Each method with a batch, and with as many single samples."""
    return [
        _study(setup, method, network, size)
        for network in measured_networks(setup)
        for method in METHODS
        for size in (setup.batch_size, 1)
    ]


def _study(setup: Setup, method: str, network: str, batch_size: int) -> Study:
    settings = {"method": method, "model": network, "images": setup.batch_size}
    return Study("memory", {**settings, "batch_size": batch_size})


def analyse(findings: Findings) -> Analysis:
    """Memory and errors, and what single samples save."""
    setup = findings.setup
    peaks = {
        f"{METHODS[method]}, {_short(network)}": _peaks(findings, method, network)
        for network in measured_networks(setup)
        for method in METHODS
    }
    tables = [_table(findings, peaks)]
    if streamed_networks(setup):
        tables.append(error_table(findings))
    claims = [_less_memory(name, peak) for name, peak in peaks.items()]
    return Analysis(tables, _figures(peaks), [*claims, *stream_claims(findings)])


def _short(network: str) -> str:
    return "a slim transformer at 224 px" if network == SLIM else network


def _peaks(findings: Findings, method: str, network: str) -> dict[str, float]:
    """Gigabytes for a ``batch`` and for ``single`` samples, as far as they were measured."""
    sizes = {"batch": findings.setup.batch_size, "single": 1}
    wanted = {name: _study(findings.setup, method, network, s).id for name, s in sizes.items()}
    found = {study.id: record["peak"] / 1024 for study, record in findings.records}
    return {name: found[identity] for name, identity in wanted.items() if identity in found}


def _table(findings: Findings, peaks: Mapping[str, Mapping[str, float]]) -> NumberTable:
    setup = findings.setup
    same = setup.batch_size == PAPERS_BATCH
    papers = [
        (published_memory(network, method) if same else None) or {}
        for network in measured_networks(setup)
        for method in METHODS
    ]
    rows = tuple(
        (name, _row(peak, paper)) for (name, peak), paper in zip(peaks.items(), papers, strict=True)
    )
    title = f"Peak memory of an update from {setup.batch_size} images, in GB beyond Python's own"
    return NumberTable(title, ("as a batch", "as single samples", "times less"), rows)


def _row(peak: Mapping[str, float], paper: Mapping[str, float]) -> tuple[Number, ...]:
    here = (peak.get("batch"), peak.get("single"), _ratio(peak))
    published = (paper.get("batch"), paper.get("single"), _ratio(paper))
    return tuple(
        Number(value, paper=None if given is None else round(given, digits), digits=digits)
        for value, given, digits in zip(here, published, (2, 2, 1), strict=True)
    )


def _ratio(memory: Mapping[str, float]) -> float | None:
    return memory["batch"] / memory["single"] if {"batch", "single"} <= set(memory) else None


def _less_memory(name: str, peak: Mapping[str, float]) -> Claim:
    text = f"Single samples take at least five times less memory than a batch ({name})."
    ratio = _ratio(peak)
    if ratio is None:
        return Claim(text, None)
    numbers = f"{peak['batch']:.2f} GB and {peak['single']:.2f} GB, {ratio:.1f} times less"
    return Claim(text, ratio >= TIMES_LESS, numbers)


def _figures(peaks: Mapping[str, Mapping[str, float]]) -> list[Figure]:
    kinds = {"batch": "as a batch", "single": "as single samples"}
    drawn = {
        (name.partition(",")[0] if len(peaks) == len(METHODS) else name.partition("@")[0]): {
            kinds[kind]: gigabytes for kind, gigabytes in peak.items()
        }
        for name, peak in peaks.items()
        if peak
    }
    if not drawn:
        return []
    caption = "An update from the same images either way; a line each method."
    return [Figure("Peak memory", caption, dots(drawn, "GB", doubling=True))]


EXPERIMENT = Experiment(
    title="Memory",
    paper="The appendix's table on memory efficiency",
    question="How much memory do single samples save, and does the error stay the same?",
    runs=stream_runs,
    analyse=analyse,
    studies=studies,
    needs="2 GB of memory; 10 GB with --model vit_b_16",
)
