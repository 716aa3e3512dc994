"""Table 4: ROID's parts one after the other, over the four settings."""

from collections.abc import Mapping
from typing import Any

from trimtab.bench.spec import RunSpec
from trimtab.report.published import published_components
from trimtab.reproduce.analysis import Analysis, Claim, Number, NumberTable
from trimtab.reproduce.experiment import Experiment
from trimtab.reproduce.findings import Findings
from trimtab.reproduce.paired import compare_errors
from trimtab.reproduce.setup import Setup

SETTINGS = ("continual", "mixed", "correlated", "mixed_correlated(delta=0.1)")
UNCORRELATED = SETTINGS[:2]

NOTHING: Mapping[str, Any] = {
    "weighting": False,
    "ensembling": None,
    "consistency": False,
    "prior": None,
}
STEPS: dict[str, tuple[str, ...]] = {
    "soft likelihood ratio": (),
    "+ weighting": ("weighting",),
    "+ ensembling": ("weighting", "ensembling"),
    "+ consistency": ("weighting", "ensembling", "consistency"),
    "+ prior correction": ("weighting", "ensembling", "consistency", "prior"),
}
"""Which parts are switched on at each step; the last one is ROID."""


def options(parts: tuple[str, ...]) -> dict[str, Any]:
    """Options of ``roid`` that leave out the other parts."""
    return {name: value for name, value in NOTHING.items() if name not in parts}


def networks(setup: Setup, scenario: str) -> tuple[str, ...]:
    """With batch norm where classes come at random, as in the paper; without it elsewhere."""
    if scenario in UNCORRELATED:
        return (setup.main,)
    return setup.uncoupled[:1]


def runs(setup: Setup) -> list[RunSpec]:
    """The source model and each step in each setting."""
    specs = []
    for scenario in SETTINGS:
        for network in networks(setup, scenario):
            specs += setup.run("source", network, scenario)
            for parts in STEPS.values():
                specs += setup.run("roid", network, scenario, options=options(parts))
    return specs


def analyse(findings: Findings) -> Analysis:
    """A row for each step, and what each part is there for."""
    rows = [("source", _row(findings, "source", {}))]
    for step, parts in STEPS.items():
        rows.append((step, _row(findings, "roid", options(parts))))
    columns = tuple(
        f"{scenario} · {', '.join(networks(findings.setup, scenario))}" for scenario in SETTINGS
    )
    table = NumberTable(f"Error in % on {findings.setup.data}", columns, tuple(rows))
    return Analysis(tables=[table, _papers()], claims=_claims(findings))


def _papers() -> NumberTable:
    """The paper's table: means over its datasets, so no number of it belongs beside one of ours."""
    settings = [scenario.partition("(")[0] for scenario in SETTINGS]
    rows = [
        (step, tuple(Number(errors[setting]) for setting in settings))
        for step, errors in published_components().items()
    ]
    return NumberTable("In the paper, means over its datasets", tuple(settings), tuple(rows))


def _row(findings: Findings, method: str, chosen: Mapping[str, Any]) -> tuple[Number, ...]:
    numbers = []
    for scenario in SETTINGS:
        here = findings.where(method=method, options=chosen, scenario=scenario)
        numbers.append(Number(here.mean(), here.spread()))
    return tuple(numbers)


def _claims(findings: Findings) -> list[Claim]:
    def error(step: str, scenario: str) -> Findings:
        return findings.where(method="roid", options=options(STEPS[step]), scenario=scenario)

    claims = []
    for scenario in SETTINGS:
        claims.append(
            compare_errors(
                f"Weighting by certainty and diversity lowers the error ({scenario}).",
                error("+ weighting", scenario),
                error("soft likelihood ratio", scenario),
                ("with", "without"),
            )
        )
    for scenario in SETTINGS[2:]:
        claims += [
            compare_errors(
                f"Ensembling with the source weights lowers the error ({scenario}).",
                error("+ ensembling", scenario),
                error("+ weighting", scenario),
                ("with", "without"),
            ),
            compare_errors(
                f"Prior correction lowers the error by far ({scenario}).",
                error("+ prior correction", scenario),
                error("+ consistency", scenario),
                ("with", "without"),
                slack=-2.0,
            ),
        ]
    for scenario in UNCORRELATED:
        claims.append(
            compare_errors(
                f"Prior correction costs nothing, within half a point ({scenario}).",
                error("+ prior correction", scenario),
                error("+ consistency", scenario),
                ("with", "without"),
                slack=0.5,
            )
        )
    return claims


EXPERIMENT = Experiment(
    title="ROID's parts",
    paper="Table 4",
    question="What does each part of ROID add, in each of the four settings?",
    runs=runs,
    analyse=analyse,
)
