"""Table 3, and figure 4, right: domains mixed, classes correlated more or less."""

from trimtab.bench.spec import RunSpec
from trimtab.report.plots.lines import lines
from trimtab.reproduce.analysis import Analysis, Claim, Figure
from trimtab.reproduce.experiment import Experiment
from trimtab.reproduce.findings import Findings
from trimtab.reproduce.paired import compare_errors
from trimtab.reproduce.settings_table import no_worse_than_source, settings_figure, settings_table
from trimtab.reproduce.setup import Setup

CONCENTRATIONS = (0.001, 0.01, 0.1, 1.0, 10.0)
FEW_CONCENTRATIONS = (0.01, 0.1, 1.0, 10.0)
SWEPT = ("source", "lame", "roid")
SHUFFLED = "mixed"
"""However large the concentration, classes come in runs; only this stream is uncorrelated."""


def scenario(concentration: float) -> str:
    """Words of the stream with this Dirichlet concentration: small is strongly correlated."""
    return f"mixed_correlated(delta={concentration:g})"


def main_concentration(setup: Setup) -> float:
    """The paper's for its datasets with a thousand classes; elsewhere 0.1."""
    return 0.01 if setup.data.startswith("imagenet_c") else 0.1


def concentrations(setup: Setup) -> tuple[float, ...]:
    """Of the sweep."""
    return FEW_CONCENTRATIONS if setup.quick else CONCENTRATIONS


def runs(setup: Setup) -> list[RunSpec]:
    """Every method at one concentration, a few methods at all and on shuffled samples."""
    specs = setup.compare(setup.uncoupled, scenario(main_concentration(setup)))
    for network in setup.uncoupled[:1]:
        for words in (*map(scenario, concentrations(setup)), SHUFFLED):
            for method in SWEPT:
                specs += setup.run(method, network, words)
    return specs


def analyse(findings: Findings) -> Analysis:
    """Errors; how ROID, LAME and the source model depend on the concentration."""
    setup = findings.setup
    main = scenario(main_concentration(setup))
    claims = no_worse_than_source(findings, main, setup.uncoupled)
    figures = settings_figure(findings, main)
    for network in setup.uncoupled[:1]:
        swept = findings.where(model=network)
        claims += _sweep_claims(swept, network)
        drawn = {method: points for method in SWEPT if (points := _points(swept, method))}
        if drawn:
            figures.append(
                Figure(
                    f"Error against concentration, {network}",
                    "To the left classes come in long runs, to the right in shorter ones.",
                    lines(drawn, "Dirichlet concentration", doubling=True),
                )
            )
    return Analysis(tables=[settings_table(findings, main)], figures=figures, claims=claims)


def _points(findings: Findings, method: str) -> list[tuple[float, float]]:
    errors = [
        (value, findings.where(method=method, scenario=scenario(value)).mean())
        for value in concentrations(findings.setup)
    ]
    return [(value, error) for value, error in errors if error is not None]


def _sweep_claims(findings: Findings, network: str) -> list[Claim]:
    strong, weak = scenario(0.01), scenario(10.0)

    def error(method: str, words: str) -> Findings:
        return findings.where(method=method, scenario=words)

    return [
        compare_errors(
            f"ROID gains from correlation: its error falls as classes come in longer runs "
            f"({network}).",
            error("roid", strong),
            error("roid", weak),
            ("concentration 0.01:", "10:"),
        ),
        compare_errors(
            f"Without correlation LAME falls behind the source model ({network}).",
            error("source", SHUFFLED),
            error("lame", SHUFFLED),
            ("source", "LAME"),
        ),
        compare_errors(
            f"Without correlation ROID is no worse than the source model ({network}).",
            error("roid", SHUFFLED),
            error("source", SHUFFLED),
            ("ROID", "source"),
        ),
    ]


EXPERIMENT = Experiment(
    title="Mixed domains, correlated classes",
    paper="Table 3 and Figure 4, right",
    question="How do the methods do when domains are mixed and classes correlated, more or less?",
    runs=runs,
    analyse=analyse,
)
