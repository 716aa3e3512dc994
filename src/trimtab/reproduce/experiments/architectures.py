"""The appendix's tables on architectures: the source model, BN-1 and ROID on many networks."""

from collections.abc import Sequence
from dataclasses import replace

from trimtab.bench.spec import RunSpec
from trimtab.models.torchvision_networks import TORCHVISION
from trimtab.report.plots.dots import dots
from trimtab.report.published import published_architecture
from trimtab.reproduce.analysis import Analysis, Claim, Figure, Number, NumberTable
from trimtab.reproduce.experiment import Experiment
from trimtab.reproduce.findings import Findings
from trimtab.reproduce.setup import NETWORKS, Setup, setup_for

SCENARIO = "continual"
METHODS = {"source": "source", "bn1": "BN-1", "roid": "ROID"}
NATURAL_SHIFTS = ("imagenet_r", "imagenet_sketch", "imagenet_d109")


def with_all_networks(setup: Setup) -> Setup:
    """The paper's 31 networks on ImageNet's variants, unless others were asked for."""
    own = setup.networks == NETWORKS.get(setup.data_name)
    if not own or not setup.data_name.startswith("imagenet"):
        return setup
    return replace(setup, networks=setup_for(setup.data, tuple(TORCHVISION)).networks)


def runs(setup: Setup) -> list[RunSpec]:
    """BN-1 where there is batch norm: elsewhere it is the source model."""
    wide = with_all_networks(setup)
    specs = []
    for network in wide.networks:
        for method in METHODS:
            if method != "bn1" or network in wide.coupled:
                specs += wide.run(method, network, SCENARIO)
    return specs


def analyse(findings: Findings) -> Analysis:
    """Errors by network, and whether ROID is ahead on every one."""
    setup = with_all_networks(findings.setup)
    rows = {
        network: tuple(_number(findings, method, network) for method in METHODS)
        for network in setup.networks
    }
    title = f"Error in % on {setup.data}, {SCENARIO}"
    table = NumberTable(title, tuple(METHODS.values()), tuple(rows.items()))
    return Analysis([table], _figures(rows), _claims(findings, setup))


def _number(findings: Findings, method: str, network: str) -> Number:
    found = findings.where(method=method, model=network)
    paper = published_architecture(found.results[0], found.setup.metric) if found.results else None
    return Number(found.mean(), found.spread(), paper)


def _figures(rows: dict[str, tuple[Number, ...]]) -> list[Figure]:
    drawn = {
        network: {
            kind: number.value
            for kind, number in zip(METHODS.values(), numbers, strict=True)
            if number.value is not None
        }
        for network, numbers in rows.items()
    }
    shown = {name.partition("@")[0]: numbers for name, numbers in drawn.items() if numbers}
    if not shown:
        return []
    caption = "A line each network; further left is better."
    return [Figure("Error by network", caption, dots(shown, "error in %"))]


def _claims(findings: Findings, setup: Setup) -> list[Claim]:
    claims = [
        _on_every(findings, "roid", "source", setup.networks, "ROID beats the source model"),
    ]
    if setup.coupled:
        sentence = "ROID beats recomputed batch-norm statistics"
        claims.append(_on_every(findings, "roid", "bn1", setup.coupled, sentence))
    if setup.coupled and setup.data_name not in NATURAL_SHIFTS:
        sentence = "Under corruptions, recomputed batch-norm statistics beat the source model's"
        claims.append(_on_every(findings, "bn1", "source", setup.coupled, sentence))
    return claims


def _on_every(
    findings: Findings, better: str, worse: str, networks: Sequence[str], sentence: str
) -> Claim:
    """The claim that one method has the lower error on each of the networks."""
    text = f"{sentence} on every network."
    gains = {}
    for network in networks:
        low = findings.where(method=better, model=network).mean()
        high = findings.where(method=worse, model=network).mean()
        if low is None or high is None:
            return Claim(text, None)
        gains[network] = high - low
    ahead = sum(gain > 0 for gain in gains.values())
    least = min(gains, key=lambda network: gains[network])
    numbers = f"on {ahead} of {len(gains)}; least on {least}, by {gains[least]:.1f} points"
    return Claim(text, ahead == len(gains), numbers)


EXPERIMENT = Experiment(
    title="Architectures",
    paper="The appendix's tables on architectures",
    question="Does ROID help whatever the network?",
    runs=runs,
    analyse=analyse,
    needs="torchvision, on ImageNet's variants",
)
