"""Single samples that wait in a window against batches, along a stream."""

from typing import Any

from trimtab import models
from trimtab.bench.spec import RunSpec
from trimtab.report.published_efficiency import published_memory
from trimtab.reproduce.analysis import Claim, Number, NumberTable
from trimtab.reproduce.cost_metrics import FORWARDS
from trimtab.reproduce.findings import Findings
from trimtab.reproduce.setup import Setup

METHODS = {"tent": "TENT", "roid": "ROID"}
SCENARIO = "continual"
SAME_ERROR = 0.5
"""Points of error that count as the same."""


def streamed_networks(setup: Setup) -> tuple[str, ...]:
    """Networks without batch norm that were trained for the data; one in a hurry."""
    fitting = tuple(name for name in setup.uncoupled if _fits(setup.data_name, name))
    return fitting[-1:] if setup.quick else fitting


def _fits(data: str, network: str) -> bool:
    dataset = models.describe(network).dataset
    known = {entry.dataset for entry in models.MODELS.values()}
    return dataset not in known or data == dataset or data.startswith(f"{dataset}_")


def stream_runs(setup: Setup) -> list[RunSpec]:
    """Each method with batches, and with single samples; in a hurry a batch a domain."""
    fields: dict[str, Any] = {}
    if setup.quick:
        fields = {
            "images_per_domain": min(setup.images_per_domain or setup.batch_size, setup.batch_size)
        }
    single = {"batch_size": 1, "window": setup.batch_size}
    specs = []
    for network in streamed_networks(setup):
        for method in METHODS:
            specs += setup.run(method, network, SCENARIO, **fields)
            specs += setup.run(method, network, SCENARIO, **fields, **single)
    return specs


def error_table(findings: Findings) -> NumberTable:
    """Errors of both ways."""
    setup = findings.setup
    rows = [
        (
            f"{METHODS[method]}, {network}",
            tuple(_error(findings, method, network, kind) for kind in ("batch", "single")),
        )
        for network in streamed_networks(setup)
        for method in METHODS
    ]
    columns = (f"batches of {setup.batch_size}", f"single samples, window of {setup.batch_size}")
    return NumberTable(f"Error in % on {setup.data}, {SCENARIO}", columns, tuple(rows))


def stream_claims(findings: Findings) -> list[Claim]:
    """The same error, and no more passes."""
    claims = []
    for network in streamed_networks(findings.setup):
        for method, title in METHODS.items():
            batch = _taken(findings, method, network, "batch")
            single = _taken(findings, method, network, "single")
            claims += [
                _same_error(batch, single, f"{title} on {network}"),
                _same_passes(batch, single, f"{title} on {network}"),
            ]
    return claims


def _same_error(batch: Findings, single: Findings, what: str) -> Claim:
    text = f"Single samples have the error of batches, within half a point ({what})."
    first, second = batch.mean(), single.mean()
    if first is None or second is None:
        return Claim(text, None)
    numbers = f"batches {first:.1f}, single samples {second:.1f}"
    return Claim(text, abs(first - second) <= SAME_ERROR, numbers)


def _same_passes(batch: Findings, single: Findings, what: str) -> Claim:
    text = f"Single samples need no more forwards than batches ({what})."
    first, second = batch.mean(FORWARDS), single.mean(FORWARDS)
    if first is None or second is None:
        return Claim(text, None)
    # Nearly equal is equal: which samples are kept may differ a little.
    numbers = f"a sample: batches {first:.2f}, single samples {second:.2f}"
    return Claim(text, second <= 1.05 * first, numbers)


def _taken(findings: Findings, method: str, network: str, kind: str) -> Findings:
    window = findings.setup.batch_size if kind == "single" else None
    return findings.where(method=method, model=network, window=window)


def _error(findings: Findings, method: str, network: str, kind: str) -> Number:
    found = _taken(findings, method, network, kind)
    published = published_memory(network, method) or {}
    whole = findings.setup.data_name == "imagenet_r" and findings.setup.images_per_domain is None
    paper = published.get(f"{kind}_error") if whole else None
    return Number(found.mean(), found.spread(), paper)
