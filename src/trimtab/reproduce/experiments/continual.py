"""Table 1: domain after domain."""

from trimtab.bench.spec import RunSpec
from trimtab.reproduce.analysis import Analysis
from trimtab.reproduce.experiment import Experiment
from trimtab.reproduce.findings import Findings
from trimtab.reproduce.settings_table import (
    best_of_all,
    no_worse_than_source,
    settings_figure,
    settings_table,
)
from trimtab.reproduce.setup import Setup

SCENARIO = "continual"


def runs(setup: Setup) -> list[RunSpec]:
    """Every method on every network."""
    return setup.compare(setup.networks, SCENARIO)


def analyse(findings: Findings) -> Analysis:
    """Errors, and ROID against the source model and the best of the others."""
    networks = findings.setup.networks
    claims = [
        *no_worse_than_source(findings, SCENARIO, networks),
        *(best_of_all(findings, SCENARIO, network) for network in networks),
    ]
    tables, figures = [settings_table(findings, SCENARIO)], settings_figure(findings, SCENARIO)
    return Analysis(tables, figures, claims)


EXPERIMENT = Experiment(
    title="Continual adaptation",
    paper="Table 1",
    question="How do the methods do when one domain follows the other, unannounced?",
    runs=runs,
    analyse=analyse,
)
