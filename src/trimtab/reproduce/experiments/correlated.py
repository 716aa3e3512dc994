"""Figure 4, left: domain after domain, class after class."""

from trimtab.bench.spec import RunSpec
from trimtab.reproduce.analysis import Analysis, Claim
from trimtab.reproduce.experiment import Experiment
from trimtab.reproduce.findings import Findings
from trimtab.reproduce.settings_table import (
    no_worse_than_source,
    pairs,
    settings_figure,
    settings_table,
)
from trimtab.reproduce.setup import Setup

SCENARIO = "correlated"


def runs(setup: Setup) -> list[RunSpec]:
    """Every method on the networks without batch norm; batch norm cannot work here."""
    specs = setup.compare(setup.uncoupled, SCENARIO)
    shown = [name for name in ("source", "bn1") if name in setup.methods]
    for network in setup.coupled:
        specs += [spec for method in shown for spec in setup.run(method, network, SCENARIO)]
    return specs


def analyse(findings: Findings) -> Analysis:
    """Errors; ROID and LAME gain from correlation, entropy minimisation loses."""
    alone, together = findings.setup.uncoupled, findings.setup.coupled

    def claims(
        networks: tuple[str, ...], sentence: str, lower: str, higher: str, slack: float = 0.0
    ) -> list[Claim]:
        return pairs(findings, SCENARIO, networks, sentence, (lower, higher), slack)

    found = [
        *no_worse_than_source(findings, SCENARIO, alone),
        *claims(
            alone,
            "Sorted classes make TENT worse than the source model on {network}.",
            "source",
            "tent",
        ),
        *claims(alone, "LAME gains from sorted classes on {network}.", "lame", "source"),
        *claims(alone, "ROID is five points ahead of TENT on {network}.", "roid", "tent", -5.0),
        *claims(
            together,
            "Recomputed batch-norm statistics fail on sorted classes ({network}).",
            "source",
            "bn1",
        ),
    ]
    tables, figures = [settings_table(findings, SCENARIO)], settings_figure(findings, SCENARIO)
    return Analysis(tables, figures, found)


EXPERIMENT = Experiment(
    title="Correlated classes",
    paper="Figure 4, left",
    question="How do the methods do when samples come sorted by class within each domain?",
    runs=runs,
    analyse=analyse,
)
