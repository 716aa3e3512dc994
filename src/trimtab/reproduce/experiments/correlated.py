"""Figure 4, left: domain after domain, class after class."""

from trimtab.bench.spec import RunSpec
from trimtab.reproduce.analysis import Analysis, compare
from trimtab.reproduce.experiment import Experiment
from trimtab.reproduce.findings import Findings
from trimtab.reproduce.settings_table import lower_than_source, settings_table
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
    setup = findings.setup
    here = findings.where(scenario=SCENARIO)
    claims = lower_than_source(findings, SCENARIO, setup.uncoupled)
    for network in setup.uncoupled:
        source = here.where(method="source", model=network).mean()
        tent = here.where(method="tent", model=network).mean()
        roid = here.where(method="roid", model=network).mean()
        lame = here.where(method="lame", model=network).mean()
        claims += [
            compare(
                f"Sorted classes make TENT worse than the source model on {network}.",
                source,
                tent,
                ("source", "TENT"),
            ),
            compare(
                f"LAME gains from sorted classes on {network}.",
                lame,
                source,
                ("LAME", "source"),
            ),
            compare(f"ROID is far ahead of TENT on {network}.", roid, tent, ("ROID", "TENT"), -5.0),
        ]
    for network in setup.coupled:
        claims.append(
            compare(
                f"Recomputed batch-norm statistics fail on sorted classes ({network}).",
                here.where(method="source", model=network).mean(),
                here.where(method="bn1", model=network).mean(),
                ("source", "BN-1"),
            )
        )
    return Analysis(tables=[settings_table(findings, SCENARIO)], claims=claims)


EXPERIMENT = Experiment(
    title="Correlated classes",
    paper="Figure 4, left",
    question="How do the methods do when samples come sorted by class within each domain?",
    runs=runs,
    analyse=analyse,
)
