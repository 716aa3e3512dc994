"""Beyond the paper: Trimtab's own preset without each of its ideas."""

from collections.abc import Mapping
from typing import Any

from trimtab.bench.spec import RunSpec
from trimtab.report.metrics import ECE, ERROR, Metric
from trimtab.reproduce.analysis import Analysis, Claim, Number, NumberTable, compare
from trimtab.reproduce.experiment import Experiment
from trimtab.reproduce.experiments.beyond import OWN, SETTINGS, STRONG
from trimtab.reproduce.findings import Findings
from trimtab.reproduce.setup import Setup

Variant = tuple[str, Mapping[str, Any]]

VARIANTS: dict[str, Variant] = {
    "ROID without its prior": ("roid", {"prior": None}),
    "the preset": (OWN, {}),
    "without the temperature": (OWN, {"temperature": False}),
    "without the prior along time": (OWN, {"prior": False}),
    "without the adaptive norm": (OWN, {"adaptive_norm": False}),
    "without cautious updates": (OWN, {"cautious": False}),
}
"""Methods and options."""


def networks(setup: Setup) -> tuple[str, ...]:
    """One with batch norm and one without, where there are both."""
    return (setup.main, *setup.uncoupled[:1])


def runs(setup: Setup) -> list[RunSpec]:
    """Every variant in every setting."""
    return [
        spec
        for network in networks(setup)
        for scenario in SETTINGS
        for method, options in VARIANTS.values()
        for spec in setup.run(method, network, scenario, options=options)
    ]


def analyse(findings: Findings) -> Analysis:
    """Error and calibration error of each variant."""
    data = findings.setup.data
    tables = [
        _table(findings, ERROR, f"Error in % on {data}"),
        _table(findings, ECE, f"Expected calibration error in % on {data}"),
    ]
    return Analysis(tables, claims=_claims(findings))


def _mean(
    findings: Findings, variant: str, network: str, scenario: str, metric: Metric = ERROR
) -> float | None:
    method, options = VARIANTS[variant]
    chosen = findings.where(method=method, options=options, model=network, scenario=scenario)
    return chosen.mean(metric)


def _table(findings: Findings, metric: Metric, title: str) -> NumberTable:
    places = [(n, s) for n in networks(findings.setup) for s in SETTINGS]
    rows = [
        (variant, tuple(Number(_mean(findings, variant, *place, metric)) for place in places))
        for variant in VARIANTS
    ]
    return NumberTable(title, tuple(f"{n} · {s}" for n, s in places), tuple(rows))


def _claims(findings: Findings) -> list[Claim]:
    claims = []
    for network in networks(findings.setup):
        claims += [
            compare(
                f"The temperature lowers the calibration error ({network}, continual).",
                _mean(findings, "the preset", network, "continual", ECE),
                _mean(findings, "without the temperature", network, "continual", ECE),
                ("with", "without"),
            ),
            compare(
                f"The prior along time lowers the error ({network}, {STRONG[0]}).",
                _mean(findings, "the preset", network, STRONG[0]),
                _mean(findings, "without the prior along time", network, STRONG[0]),
                ("with", "without"),
            ),
        ]
    for network in findings.setup.coupled[:1]:
        claims += [
            compare(
                f"The adaptive norm lowers the error ({network}, {scenario}).",
                _mean(findings, "the preset", network, scenario),
                _mean(findings, "without the adaptive norm", network, scenario),
                ("with", "without"),
            )
            for scenario in ("correlated", STRONG[0])
        ]
    return claims


EXPERIMENT = Experiment(
    title="Beyond ROID, idea by idea",
    paper="",
    question="What does each idea of the project's own preset add?",
    runs=runs,
    analyse=analyse,
)
