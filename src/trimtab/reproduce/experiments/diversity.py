"""The appendix's study of diversity: which classes are predicted along the stream."""

import math
import statistics
from collections.abc import Sequence

from trimtab.bench.result import Scores
from trimtab.bench.spec import RunSpec
from trimtab.report.averages import mean
from trimtab.report.markup import together
from trimtab.report.metrics import ERROR, TVD, Metric
from trimtab.report.plots.bars import histogram
from trimtab.report.plots.matrix import share_matrix
from trimtab.reproduce.analysis import Analysis, Claim, Figure, Number, NumberTable, compare
from trimtab.reproduce.experiment import Experiment
from trimtab.reproduce.findings import Findings
from trimtab.reproduce.setup import Setup
from trimtab.reproduce.stream_curves import mean_shares

SCENARIO = "continual"
FULL_COLOUR = 4.0
"""A class that comes this many times as often as if all were equal has the strongest colour."""


def runs(setup: Setup) -> list[RunSpec]:
    """The comparison of the continual setting, on one network."""
    return setup.compare((setup.main,), SCENARIO)


def analyse(findings: Findings) -> Analysis:
    """Predicted classes along the stream and in its last domain, and how biased they are."""
    setup = findings.setup
    methods = findings.distinct("method")
    rows = [(method, _numbers(findings.where(method=method))) for method in methods]
    table = NumberTable(
        f"Diversity of predictions on {setup.data}, {SCENARIO}, {setup.main}",
        (
            "distance to the true classes in %",
            "the same, last domain",
            "effective number of classes, last domain",
        ),
        tuple(rows),
    )
    figures = [
        _figure(method, scores)
        for method in methods
        if (scores := _first(findings.where(method=method))) is not None
    ]
    return Analysis([table], figures, _claims(findings))


def last_domain(scores: Scores) -> list[int]:
    """How often each class is predicted in the last of the equally long domains."""
    stretches = max(1, len(scores.predicted_along) // len(scores.errors))
    return [sum(counts) for counts in zip(*scores.predicted_along[-stretches:], strict=True)]


def effective_classes(counts: Sequence[int]) -> float:
    """The exponential of the entropy: how many equally frequent classes are as diverse."""
    shares = [count / sum(counts) for count in counts if count]
    return math.exp(-sum(share * math.log(share) for share in shares))


def _first(findings: Findings) -> Scores | None:
    """The first run that counted classes along the stream; older results have not."""
    found = (result.scores for result in findings.results)
    return next((scores for scores in found if scores and scores.predicted_along), None)


def _numbers(findings: Findings) -> tuple[Number, ...]:
    distances = _by_domain(findings, TVD)
    scores = _first(findings)
    return (
        Number(mean(distances)),
        Number(distances[-1] if distances else None),
        Number(None if scores is None else effective_classes(last_domain(scores))),
    )


def _by_domain(findings: Findings, metric: Metric) -> list[float]:
    domains = findings.mean_of(lambda scores: float(len(scores.errors)))
    return [] if domains is None else mean_shares(findings, metric, round(domains))


def _figure(method: str, scores: Scores) -> Figure:
    stops = [str(point.last_sample) for point in scores.curve]
    columns = [f"up to sample {stop}" for stop in stops]
    groups = len(scores.predicted_along[0])
    shares = {
        f"class {number}" if groups == len(scores.predicted) else f"classes around {number}": {
            column: 100 * counts[number] / max(1, sum(counts))
            for column, counts in zip(columns, scores.predicted_along, strict=True)
        }
        for number in range(groups)
    }
    title = f"Predictions of {method}"
    content = together(
        share_matrix(title, shares, columns, "along the stream", FULL_COLOUR * 100 / groups),
        histogram(f"{title}, last domain", last_domain(scores), "classes, last domain"),
    )
    caption = (
        "Above, the share of each class along the stream, strongest from four times an equal "
        "share; below, in the last domain, dashed an equal share."
    )
    return Figure(title, caption, content)


def _claims(findings: Findings) -> list[Claim]:
    def distances(method: str) -> list[float]:
        return _by_domain(findings.where(method=method), TVD)

    def distance(method: str) -> float | None:
        return mean(distances(method))

    def last(method: str) -> float | None:
        return next(reversed(distances(method)), None)

    careful = "eata" if findings.where(method="eata").results else "eta"
    return [
        _linked(distances("bn1"), _by_domain(findings.where(method="bn1"), ERROR)),
        compare(
            "ROID keeps its predictions diverse: no further from the true classes than BN-1's.",
            distance("roid"),
            distance("bn1"),
            ("ROID", "BN-1"),
        ),
        compare(
            "EATA keeps its predictions diverse: no further from the true classes than BN-1's.",
            distance(careful),
            distance("bn1"),
            (careful.upper(), "BN-1"),
        ),
        compare(
            "In the last domain TENT's predictions are less diverse than ROID's.",
            last("roid"),
            last("tent"),
            ("ROID", "TENT"),
        ),
        compare(
            "LAME's diversity depends on the domain more than ROID's: its distance varies more.",
            _spread(distances("roid")),
            _spread(distances("lame")),
            ("ROID", "LAME"),
        ),
    ]


def _spread(values: list[float]) -> float | None:
    return statistics.pstdev(values) if values else None


def _linked(distances: list[float], errors: list[float]) -> Claim:
    text = "Where BN-1 errs more it is also more biased: a correlation over domains of 0.5 or more."
    if len(set(distances)) < 2 or len(set(errors)) < 2:
        return Claim(text, None)
    value = statistics.correlation(distances, errors)
    return Claim(text, value >= 0.5, f"correlation {value:.2f}")


EXPERIMENT = Experiment(
    title="Diversity of predictions",
    paper="The appendix's figures on diversity",
    question="Which classes do methods predict along the stream?",
    runs=runs,
    analyse=analyse,
)
