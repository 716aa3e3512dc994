"""Table 2: every sample of another domain."""

from trimtab.bench.spec import RunSpec
from trimtab.reproduce.analysis import Analysis
from trimtab.reproduce.experiment import Experiment
from trimtab.reproduce.findings import Findings
from trimtab.reproduce.settings_table import (
    best_of_all,
    no_worse_than_source,
    pairs,
    settings_figure,
    settings_table,
)
from trimtab.reproduce.setup import Setup

SCENARIO = "mixed"


def runs(setup: Setup) -> list[RunSpec]:
    """Every method on every network."""
    return setup.compare(setup.networks, SCENARIO)


def analyse(findings: Findings) -> Analysis:
    """Errors; ROID against the source model, the best of the others, and TENT."""
    networks = findings.setup.networks
    sentence = "Where domains are mixed, ROID is no worse than TENT on {network}."
    claims = [
        *no_worse_than_source(findings, SCENARIO, networks),
        *pairs(findings, SCENARIO, networks, sentence, ("roid", "tent")),
        *(best_of_all(findings, SCENARIO, network) for network in networks),
    ]
    tables, figures = [settings_table(findings, SCENARIO)], settings_figure(findings, SCENARIO)
    return Analysis(tables, figures, claims)


EXPERIMENT = Experiment(
    title="Mixed domains",
    paper="Table 2",
    question="How do the methods do when consecutive samples come from different domains?",
    runs=runs,
    analyse=analyse,
)
