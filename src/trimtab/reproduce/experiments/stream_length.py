"""Figure 2: short streams and long ones."""

from trimtab.bench.spec import RunSpec
from trimtab.report.plots.lines import lines
from trimtab.reproduce.analysis import Analysis, Claim, Figure, Number, NumberTable, compare
from trimtab.reproduce.experiment import Experiment
from trimtab.reproduce.findings import Findings
from trimtab.reproduce.setup import Setup

SCENARIO = "continual"
METHODS = ("source", "bn1", "tent", "eata", "sar", "cotta", "rotta", "roid")
FEW_METHODS = ("source", "tent", "eata", "roid")
ALL_IMAGES = (1000, 2500, 5000, None)
"""Images per domain where the data are files of at least 10,000 each."""


def lengths(setup: Setup) -> tuple[int | None, ...]:
    """Images per domain, from few to many; None is all."""
    images = setup.images_per_domain
    if images is None:
        return ALL_IMAGES
    if setup.quick:
        return (max(1, images // 4), images, images * 5 // 2)
    return (max(1, images // 20), max(1, images // 5), images, 3 * images)


def runs(setup: Setup) -> list[RunSpec]:
    """Each method on streams of each length."""
    chosen = FEW_METHODS if setup.quick else METHODS
    return [
        spec
        for method in chosen
        if method in setup.methods
        for length in lengths(setup)
        for spec in setup.run(method, setup.main, SCENARIO, images_per_domain=length)
    ]


def analyse(findings: Findings) -> Analysis:
    """Errors by length, and what becomes of ROID and TENT on long streams."""
    setup = findings.setup
    methods = findings.distinct("method")
    rows = [
        (method, tuple(_error(findings, method, n) for n in lengths(setup))) for method in methods
    ]
    columns = tuple("all" if length is None else f"{length:,}" for length in lengths(setup))
    title = f"Error in % on {setup.data}, {SCENARIO}, {setup.main}, by images per domain"
    drawn = {method: points for method in methods if (points := _points(findings, method))}
    figures = [
        Figure(
            "Error against length",
            "How many images each domain shows before the next one comes.",
            lines(drawn, "images per domain", doubling=True),
        )
    ]
    tables = [NumberTable(title, columns, tuple(rows))]
    return Analysis(tables, figures if drawn else [], _claims(findings))


def _error(findings: Findings, method: str, length: int | None) -> Number:
    found = findings.where(method=method, images_per_domain=length)
    return Number(found.mean(), found.spread())


def _points(findings: Findings, method: str) -> list[tuple[float, float]]:
    points = []
    for length in lengths(findings.setup):
        found = findings.where(method=method, images_per_domain=length)
        error, images = found.mean(), found.mean_of(lambda s: s.samples / len(s.errors))
        if error is not None and images is not None:
            points.append((images, error))
    return points


def _claims(findings: Findings) -> list[Claim]:
    short, long = lengths(findings.setup)[0], lengths(findings.setup)[-1]
    most = "all" if long is None else f"{long:,}"

    def error(method: str, length: int | None) -> float | None:
        return findings.where(method=method, images_per_domain=length).mean()

    return [
        compare(
            f"ROID's error does not rise from {short:,} to {most} images per domain.",
            error("roid", long),
            error("roid", short),
            ("long", "short"),
        ),
        _behind(
            "TENT falls further behind ROID as the stream grows longer.",
            [(error("tent", length), error("roid", length)) for length in (short, long)],
        ),
        compare(
            "On the longest stream ROID is no worse than TENT.",
            error("roid", long),
            error("tent", long),
            ("ROID", "TENT"),
        ),
    ]


def _behind(text: str, pairs: list[tuple[float | None, float | None]]) -> Claim:
    gaps = [tent - roid for tent, roid in pairs if tent is not None and roid is not None]
    if len(gaps) < len(pairs):
        return Claim(text, None)
    return Claim(text, gaps[1] > gaps[0], f"short {gaps[0]:+.1f}, long {gaps[1]:+.1f} points")


EXPERIMENT = Experiment(
    title="Length of the stream",
    paper="Figure 2",
    question="Do methods stay stable as the stream grows longer?",
    runs=runs,
    analyse=analyse,
)
