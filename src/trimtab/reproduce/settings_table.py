"""Methods by networks in one setting: the paper's main tables, and what they claim."""

from collections.abc import Sequence

from trimtab.report.plots.dots import dots
from trimtab.report.published import published_error
from trimtab.reproduce.analysis import Claim, Figure, Number, NumberTable
from trimtab.reproduce.findings import Findings
from trimtab.reproduce.paired import compare_errors

TITLES = {"roid": "ROID", "tent": "TENT", "lame": "LAME", "bn1": "BN-1"}
"""Methods as sentences write them."""


def settings_table(findings: Findings, scenario: str) -> NumberTable:
    """Errors of every method on every network, with the published ones beside them."""
    here = findings.where(scenario=scenario)
    networks = here.distinct("model")
    rows = [
        (method, tuple(error_of(here, method, network) for network in networks))
        for method in here.distinct("method")
    ]
    title = f"Error in % on {findings.setup.data}, {scenario}"
    return NumberTable(title, tuple(networks), tuple(rows))


def settings_figure(findings: Findings, scenario: str) -> list[Figure]:
    """The same errors as dots, a line each method; nothing without any."""
    table = settings_table(findings, scenario)
    drawn = {
        method: {
            network: number.value
            for network, number in zip(table.columns, numbers, strict=True)
            if number.value is not None
        }
        for method, numbers in table.rows
    }
    if not drawn:
        return []
    caption = "A line each method; further left is better."
    return [Figure(f"Error, {scenario}", caption, dots(drawn, "error in %"))]


def error_of(findings: Findings, method: str, network: str) -> Number:
    """The error of a method on a network, in the one scenario of these findings."""
    found = findings.where(method=method, model=network)
    paper = published_error(found.results[0], found.setup.metric) if found.results else None
    return Number(found.mean(), found.spread(), paper)


def pairs(
    findings: Findings,
    scenario: str,
    networks: Sequence[str],
    sentence: str,
    methods: tuple[str, str],
    slack: float = 0.0,
) -> list[Claim]:
    """The claim that the first method's error is at most the second's, for each network.

    ``sentence`` says so of a ``{network}``.
    """
    here = findings.where(scenario=scenario)
    first, second = methods
    names = (TITLES.get(first, first), TITLES.get(second, second))
    return [
        compare_errors(
            sentence.format(network=network),
            here.where(method=first, model=network),
            here.where(method=second, model=network),
            names,
            slack,
        )
        for network in networks
    ]


def no_worse_than_source(findings: Findings, scenario: str, networks: Sequence[str]) -> list[Claim]:
    """ROID against the source model, a claim for each network."""
    sentence = f"ROID is no worse than the source model on {{network}} ({scenario})."
    return pairs(findings, scenario, networks, sentence, ("roid", "source"))


def best_of_all(findings: Findings, scenario: str, network: str) -> Claim:
    """ROID against the best other method."""
    here = findings.where(scenario=scenario, model=network)
    errors = {
        method: error
        for method in here.distinct("method")
        if (error := here.where(method=method).mean()) is not None
    }
    own = errors.pop("roid", None)
    text = f"ROID has the lowest error of all methods on {network} ({scenario})."
    if own is None or not errors:
        return Claim(text, None)
    rival = min(errors, key=lambda method: errors[method])
    names = ("ROID", f"the next best, {rival},")
    return compare_errors(text, here.where(method="roid"), here.where(method=rival), names)
