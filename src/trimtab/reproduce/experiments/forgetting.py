"""The appendix's study of forgetting: each domain followed by clean images."""

from trimtab.bench.result import Scores
from trimtab.bench.spec import RunSpec
from trimtab.report.averages import mean
from trimtab.report.metrics import ERROR
from trimtab.report.plots.lines import lines
from trimtab.reproduce.analysis import Analysis, Claim, Figure, Number, NumberTable, compare
from trimtab.reproduce.experiment import Experiment
from trimtab.reproduce.findings import Findings
from trimtab.reproduce.setup import Setup
from trimtab.reproduce.stream_curves import mean_shares
from trimtab.streams.domains import CLEAN

SCENARIO = "alternating"
METHODS = ("source", "tent", "eata", "cotta", "roid")
FEW_METHODS = ("source", "tent", "eata", "roid")
SLACK = 1.0
"""So many points above the source model's clean error is nearly keeping it."""


def runs(setup: Setup) -> list[RunSpec]:
    """The source model and a few methods."""
    chosen = FEW_METHODS if setup.quick else METHODS
    return [spec for method in chosen for spec in setup.run(method, setup.main, SCENARIO)]


def analyse(findings: Findings) -> Analysis:
    """Errors on clean images and on the domains, visit by visit."""
    setup = findings.setup
    methods = findings.distinct("method")
    rows = [(method, _numbers(findings.where(method=method))) for method in methods]
    table = NumberTable(
        f"Error in % on {setup.data}, each domain followed by clean images, {setup.main}",
        ("clean images", "domains", "clean, first third", "clean, last third"),
        tuple(rows),
    )
    figures = [
        figure
        for title, caption, clean in (
            (
                "Error on clean images",
                "After each domain; grey is the source model, which forgets nothing.",
                True,
            ),
            ("Error on the domains", "Domain by domain, in the order of the stream.", False),
        )
        if (figure := _figure(findings, title, caption, clean)) is not None
    ]
    return Analysis([table], figures, _claims(findings))


def visits(findings: Findings, *, clean: bool) -> list[float]:
    """Errors in % of the visits to clean images, or of those to domains, in their order.

    All visits are equally long, so that they are equal shares of the stream.
    """
    domains = findings.mean_of(lambda scores: float(len(scores.errors) - 1))
    if domains is None:
        return []
    every = mean_shares(findings, ERROR, 2 * round(domains))
    return every[1::2] if clean else every[0::2]


def _numbers(findings: Findings) -> tuple[Number, ...]:
    late = visits(findings, clean=True)
    few = max(1, len(late) // 3)
    return (
        Number(clean_error(findings)),
        Number(findings.mean_of(_domain_error)),
        Number(mean(late[:few])),
        Number(mean(late[-few:])),
    )


def clean_error(findings: Findings) -> float | None:
    """Over all clean images of the stream, in %."""
    return findings.mean_of(lambda scores: 100 * scores.errors[CLEAN])


def _domain_error(scores: Scores) -> float:
    others = [error for domain, error in scores.errors.items() if domain != CLEAN]
    return 100 * sum(others) / len(others)


def _figure(findings: Findings, title: str, caption: str, clean: bool) -> Figure | None:
    drawn = {}
    for method in findings.distinct("method"):
        values = visits(findings.where(method=method), clean=clean)
        if values:
            drawn[method] = [(float(n + 1), value) for n, value in enumerate(values)]
    return Figure(title, caption, lines(drawn, "domains seen")) if drawn else None


def _claims(findings: Findings) -> list[Claim]:
    source = clean_error(findings.where(method="source"))
    roid = clean_error(findings.where(method="roid"))
    kept = compare(
        "ROID nearly keeps the source model's error on clean images, within a point.",
        roid,
        source,
        ("ROID", "source"),
        slack=SLACK,
    )
    others = {"tent": "TENT", "eata": "EATA", "cotta": "CoTTA"}
    shown = FEW_METHODS if findings.setup.quick else METHODS
    return [
        kept,
        *(
            compare(
                f"ROID forgets no more than {title}: its error on clean images is no higher.",
                roid,
                clean_error(findings.where(method=method)),
                ("ROID", title),
            )
            for method, title in others.items()
            if method in shown
        ),
    ]


EXPERIMENT = Experiment(
    title="Forgetting",
    paper="The appendix's figure on catastrophic forgetting",
    question="What do methods forget of the source while they adapt?",
    runs=runs,
    analyse=analyse,
    needs="clean images, such as imagenet_c(clean='imagenet')",
)
