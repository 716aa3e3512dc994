"""Beyond the paper: Trimtab's own preset against ROID and others, in every setting."""

from collections.abc import Sequence

from trimtab.bench.spec import RunSpec
from trimtab.report.averages import mean
from trimtab.report.metrics import COST, ECE, ERROR, Metric
from trimtab.report.plots.dots import dots
from trimtab.reproduce.analysis import Analysis, Claim, Figure, Number, NumberTable
from trimtab.reproduce.experiment import Experiment
from trimtab.reproduce.findings import Findings
from trimtab.reproduce.setup import Setup

OWN = "trimtab"
METHODS = ("source", "roid", "lame", "tent", "eata", OWN)
STRONG = ("mixed_correlated(delta=0.1)", "mixed_correlated(delta=0.01)")
ORDERED = ("correlated", *STRONG)
SETTINGS = ("continual", "mixed", *ORDERED)
CALIBRATED = 5.0
"""Most expected calibration error, in %."""
HOPELESS = 70.0
"""From this error of the source model on, in %, it has hardly any accuracy left."""
DEARER = 1.05
"""Most cost, as a multiple of ROID's."""

Place = tuple[str, str]
"""A network and a setting."""


def runs(setup: Setup) -> list[RunSpec]:
    """Six methods on every network in the paper's settings, two of them strongly correlated."""
    return [
        spec
        for network in setup.networks
        for scenario in SETTINGS
        for method in METHODS
        for spec in setup.run(method, network, scenario)
    ]


def analyse(findings: Findings) -> Analysis:
    """Error, calibration error, the worst setting, and cost."""
    setup = findings.setup
    tables = [
        _table(findings, ERROR, f"Error in % on {setup.data}"),
        _table(findings, ECE, f"Expected calibration error in % on {setup.data}"),
        _summary(findings),
    ]
    return Analysis(tables, _figures(findings), _claims(findings))


def places(setup: Setup) -> list[Place]:
    """Every network in every setting."""
    return [(network, scenario) for network in setup.networks for scenario in SETTINGS]


def _mean(findings: Findings, method: str, place: Place, metric: Metric = ERROR) -> float | None:
    return findings.where(method=method, model=place[0], scenario=place[1]).mean(metric)


def _table(findings: Findings, metric: Metric, title: str) -> NumberTable:
    columns = tuple(f"{network} · {scenario}" for network, scenario in places(findings.setup))
    rows = []
    for method in findings.distinct("method"):
        chosen = [
            findings.where(method=method, model=network, scenario=scenario)
            for network, scenario in places(findings.setup)
        ]
        numbers = tuple(Number(found.mean(metric), found.spread(metric)) for found in chosen)
        rows.append((method, numbers))
    return NumberTable(title, columns, tuple(rows))


def _summary(findings: Findings) -> NumberTable:
    rows = []
    for method in findings.distinct("method"):
        errors = _known([_mean(findings, method, place) for place in places(findings.setup)])
        changes = _known([_change(findings, method, place) for place in places(findings.setup)])
        cost = findings.where(method=method).mean(COST)
        numbers = (mean(errors), max(errors, default=None), max(changes, default=None), cost)
        rows.append((method, tuple(Number(number) for number in numbers)))
    columns = (
        "mean error in %",
        "error in the worst setting",
        "most points above the source model",
        "time, in plain forwards",
    )
    return NumberTable("Over all networks and settings", columns, tuple(rows))


def _change(findings: Findings, method: str, place: Place) -> float | None:
    own, source = _mean(findings, method, place), _mean(findings, "source", place)
    return None if own is None or source is None else own - source


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _figures(findings: Findings) -> list[Figure]:
    figures = []
    for network in findings.setup.networks:
        drawn = {
            scenario: {
                method: error
                for method in METHODS
                if (error := _mean(findings, method, (network, scenario))) is not None
            }
            for scenario in SETTINGS
        }
        shown = {scenario: errors for scenario, errors in drawn.items() if errors}
        if shown:
            caption = "A line each setting; further left is better."
            figures.append(Figure(f"Error, {network}", caption, dots(shown, "error in %")))
    return figures


def _claims(findings: Findings) -> list[Claim]:
    everywhere = places(findings.setup)
    ordered = [place for place in everywhere if place[1] in ORDERED]

    def error(method: str, place: Place) -> float | None:
        return _mean(findings, method, place)

    def half_of_roid(place: Place) -> float | None:
        roid = error("roid", place)
        return None if roid is None else roid / 2

    def calibration(place: Place) -> float | None:
        source = error("source", place)
        hopeless = source is not None and source >= HOPELESS
        return 0.0 if hopeless else _mean(findings, OWN, place, ECE)

    def dearest(place: Place) -> float | None:
        roid = _mean(findings, "roid", place, COST)
        return None if roid is None else DEARER * roid

    own = [error(OWN, place) for place in everywhere]
    own_ordered = [error(OWN, place) for place in ordered]
    return [
        _all_below(
            "The preset is no worse than ROID in any setting.",
            everywhere,
            own,
            [error("roid", place) for place in everywhere],
        ),
        _all_below(
            "The preset has at most half of ROID's error where classes are correlated.",
            ordered,
            own_ordered,
            [half_of_roid(place) for place in ordered],
        ),
        _all_below(
            "The preset is no worse than LAME where classes are correlated.",
            ordered,
            own_ordered,
            [error("lame", place) for place in ordered],
        ),
        _all_below(
            "The preset is no worse than the source model in any setting.",
            everywhere,
            own,
            [error("source", place) for place in everywhere],
        ),
        _all_below(
            f"The preset's calibration error is at most {CALIBRATED:g} % wherever the source "
            f"model's error is below {HOPELESS:g} %.",
            everywhere,
            [calibration(place) for place in everywhere],
            [CALIBRATED for _ in everywhere],
        ),
        _all_below(
            "The preset costs at most 5 % more than ROID.",
            everywhere,
            [_mean(findings, OWN, place, COST) for place in everywhere],
            [dearest(place) for place in everywhere],
        ),
    ]


def _all_below(
    text: str, where: list[Place], own: list[float | None], limits: list[float | None]
) -> Claim:
    """The claim that a number is at most its limit at each place, and where that fails most."""
    if not where or None in own or None in limits:
        return Claim(text, None)
    beyond = [
        (mine - limit, place, mine, limit)
        for place, mine, limit in zip(where, own, limits, strict=True)
        if mine is not None and limit is not None
    ]
    kept = sum(excess <= 0 for excess, *_ in beyond)
    _, (network, scenario), mine, limit = max(beyond)
    words = f"{kept} of {len(beyond)}; tightest on {network}, {scenario}: {mine:.1f} of {limit:.1f}"
    return Claim(text, kept == len(beyond), words)


EXPERIMENT = Experiment(
    title="Beyond ROID",
    paper="",
    question="Is the preset of this project at least as good as ROID everywhere, and honest?",
    runs=runs,
    analyse=analyse,
)
