"""The momentum of weight ensembling, swept."""

from trimtab.bench.spec import RunSpec
from trimtab.report.plots.lines import lines
from trimtab.report.published import published_momentum
from trimtab.reproduce.analysis import Analysis, Claim, Figure, Number, NumberTable
from trimtab.reproduce.experiment import Experiment
from trimtab.reproduce.findings import Findings
from trimtab.reproduce.setup import Setup

MOMENTA = (0.99975, 0.9995, 0.999, 0.9975, 0.995, 0.99, 0.95, 0.9)
FEW_MOMENTA = (0.9995, 0.9975, 0.99, 0.95, 0.9)


def momenta(setup: Setup) -> tuple[float, ...]:
    """Shares of the adapted weights that stay at each update."""
    return FEW_MOMENTA if setup.quick else MOMENTA


def swept_networks(setup: Setup) -> tuple[str, ...]:
    """All; a single one in a hurry."""
    return (setup.main,) if setup.quick else setup.networks


def runs(setup: Setup) -> list[RunSpec]:
    """ROID without consistency and prior correction, as in the paper, with each momentum."""
    specs = []
    for network in swept_networks(setup):
        for momentum in momenta(setup):
            options = {"ensembling": momentum, "consistency": False, "prior": None}
            specs += setup.run("roid", network, "continual", options=options)
    return specs


def analyse(findings: Findings) -> Analysis:
    """Errors by momentum."""
    setup = findings.setup
    rows = [
        (network, tuple(_number(findings, network, value) for value in momenta(setup)))
        for network in swept_networks(setup)
    ]
    columns = tuple(f"{value:g}" for value in momenta(setup))
    table = NumberTable(f"Error in % on {setup.data}, continual, by momentum", columns, tuple(rows))
    drawn = {
        network: [
            (1 / (1 - value), number.value)
            for value, number in zip(momenta(setup), numbers, strict=True)
            if number.value is not None
        ]
        for network, numbers in rows
    }
    shown = {network: points for network, points in drawn.items() if points}
    figures = []
    if shown:
        figures.append(
            Figure(
                "Error against momentum",
                "How many updates the weights remember, 1 / (1 - momentum): 100 for 0.99.",
                lines(shown, "updates remembered", doubling=True),
            )
        )
    return Analysis(
        [table], figures, [_claim(network, numbers, setup) for network, numbers in rows]
    )


def _number(findings: Findings, network: str, momentum: float) -> Number:
    found = [
        result
        for result in findings.where(model=network).results
        if result.spec.options.get("ensembling") == momentum
    ]
    chosen = Findings(findings.setup, tuple(found))
    paper = published_momentum(found[0]) if found else None
    return Number(chosen.mean(), chosen.spread(), paper)


def _claim(network: str, numbers: tuple[Number, ...], setup: Setup) -> Claim:
    text = f"A momentum between 0.99 and 0.9975 is best, or within 0.3 points of it ({network})."
    errors = {
        value: number.value
        for value, number in zip(momenta(setup), numbers, strict=True)
        if number.value is not None
    }
    if len(errors) < len(numbers):
        return Claim(text, None)
    inside = min(error for value, error in errors.items() if 0.99 <= value <= 0.9975)
    best = min(errors, key=lambda value: errors[value])
    numbers_said = f"best there {inside:.1f}, best of all {errors[best]:.1f} at {best:g}"
    return Claim(text, inside <= errors[best] + 0.3, numbers_said)


EXPERIMENT = Experiment(
    title="Momentum of weight ensembling",
    paper="The appendix's table on momentum",
    question="How much of the source weights should each update bring back?",
    runs=runs,
    analyse=analyse,
)
