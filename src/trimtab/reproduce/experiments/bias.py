"""The appendix's study of model bias: how far predicted classes are from the true ones."""

from trimtab.bench.spec import RunSpec
from trimtab.report.metrics import TVD
from trimtab.report.plots.lines import lines
from trimtab.report.plots.scale import span
from trimtab.reproduce.analysis import Analysis, Claim, Figure, Number, NumberTable, change, compare
from trimtab.reproduce.experiment import Experiment
from trimtab.reproduce.findings import Findings
from trimtab.reproduce.setup import Setup
from trimtab.reproduce.stream_curves import mean_shares, placed, stream_length
from trimtab.streams.corruptions import BENCHMARK

PLAIN, WEIGHTED = "tent", "tent + certainty_diversity"
TITLES = {PLAIN: "TENT", WEIGHTED: "TENT with the weighting"}
SINGLE, CONTINUAL, MIXED = "single domain", "continual", "mixed"
FEW_SINGLE = ("gaussian_noise", "snow")
ROUNDS = 4
LINE_POINTS = 12
"""Shorter parts of a stream would show little but noise."""

Growth = tuple[float, float] | None
"""Distance in % over the first and the last quarter of the stream."""


def scenarios(setup: Setup) -> dict[str, list[tuple[str, int | None]]]:
    """Words and images per domain; all streams are equally long where these are limited.

    Continual is the sequence of domains four times, so that its last quarter shows the same
    domains as its first.
    """
    images = setup.images_per_domain
    half, twice = (None, None) if images is None else (max(1, images // 2), 2 * images)
    domains = FEW_SINGLE if setup.quick else BENCHMARK
    single = [f"single(domain={domain!r}, rounds={len(BENCHMARK)})" for domain in domains]
    return {
        SINGLE: [(words, twice) for words in single],
        CONTINUAL: [(f"recurring(rounds={ROUNDS})", half)],
        MIXED: [("mixed", twice)],
    }


def runs(setup: Setup) -> list[RunSpec]:
    """TENT with and without ROID's weighting, with TENT's own learning rate."""
    return [
        spec
        for streams in scenarios(setup).values()
        for words, images in streams
        for method in TITLES
        for spec in setup.run(method, setup.main, words, images_per_domain=images)
    ]


def analyse(findings: Findings) -> Analysis:
    """The distance along each stream, and how much it grows."""
    setup = findings.setup
    rows = []
    for kind in scenarios(setup):
        for method, title in TITLES.items():
            grown = growth(findings, kind, method)
            first, last = grown or (None, None)
            rows.append((f"{title}, {kind}", (Number(first), Number(last))))
    table = NumberTable(
        f"Total variation distance in % of predicted and true classes on {setup.data}, "
        f"{setup.main}",
        ("first quarter", "last quarter"),
        tuple(rows),
    )
    return Analysis([table], _figures(findings), _claims(findings))


def growth(findings: Findings, kind: str, method: str) -> Growth:
    """At the beginning and at the end, averaged over the streams of a kind."""
    found = [
        mean_shares(findings.where(method=method, scenario=words, images_per_domain=n), TVD, 4)
        for words, n in scenarios(findings.setup)[kind]
    ]
    ends = [(quarters[0], quarters[-1]) for quarters in found if quarters]
    if len(ends) < len(found):
        return None
    first, last = (sum(side) / len(ends) for side in zip(*ends, strict=True))
    return first, last


def _figures(findings: Findings) -> list[Figure]:
    """A plot for TENT as it is and one with the weighting, both of the same height."""
    drawn = {method: _lines(findings, method) for method in TITLES}
    values = [y for shown in drawn.values() for points in shown.values() for _, y in points]
    caption = "Total variation distance of predicted and true classes along the stream."
    return [
        Figure(
            TITLES[method],
            caption,
            lines(shown, "samples", "distance in %", limits=span([0.0, *values])),
        )
        for method, shown in drawn.items()
        if shown
    ]


def _lines(findings: Findings, method: str) -> dict[str, list[tuple[float, float]]]:
    drawn = {}
    for kind, streams in scenarios(findings.setup).items():
        for words, images in streams:
            found = findings.where(method=method, scenario=words, images_per_domain=images)
            values = mean_shares(found, TVD, LINE_POINTS)
            name = words.split("'")[1].replace("_", " ") + " alone" if kind == SINGLE else kind
            if values:
                drawn[name] = placed(values, stream_length(found))
    return drawn


def _claims(findings: Findings) -> list[Claim]:
    plain = {kind: growth(findings, kind, PLAIN) for kind in (SINGLE, CONTINUAL, MIXED)}
    weighted = {kind: growth(findings, kind, WEIGHTED) for kind in plain}
    return [
        *(_grows(kind, plain[kind]) for kind in (CONTINUAL, MIXED)),
        _faster("mixed domains than under changing ones", plain[MIXED], plain[CONTINUAL]),
        _faster("changing domains than under a single one", plain[CONTINUAL], plain[SINGLE]),
        *(_stays(kind, found) for kind, found in weighted.items()),
        *(_ends_lower(kind, weighted[kind], found) for kind, found in plain.items()),
    ]


def _stays(kind: str, found: Growth) -> Claim:
    text = f"The weighting keeps TENT's bias from growing, within a point ({kind})."
    first, last = found or (None, None)
    return compare(text, last, first, ("last quarter", "first quarter"), slack=1.0)


def _ends_lower(kind: str, weighted: Growth, plain: Growth) -> Claim:
    text = f"With the weighting TENT ends less biased ({kind})."
    (_, lower), (_, higher) = weighted or (None, None), plain or (None, None)
    return compare(text, lower, higher, ("with", "without"))


def _grows(kind: str, found: Growth) -> Claim:
    first, last = found or (None, None)
    names = ("first quarter", "last quarter")
    return change(f"TENT's bias grows ({kind}).", first, last, names, falls=False)


def _faster(words: str, one: Growth, other: Growth) -> Claim:
    text = f"TENT's bias grows faster under {words}."
    if one is None or other is None:
        return Claim(text, None)
    here, there = one[1] - one[0], other[1] - other[0]
    return Claim(text, here > there, f"{here:+.1f} against {there:+.1f} points")


EXPERIMENT = Experiment(
    title="Model bias",
    paper="The appendix's figure on total variation distance",
    question="When does TENT become biased towards some classes, and does weighting stop it?",
    runs=runs,
    analyse=analyse,
    needs="corrupted images",
)
