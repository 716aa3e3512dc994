"""Metrics that a table can show: error, ECE, NLL, TVD and others, each read off one run."""

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from trimtab.bench.result import RunResult


@dataclass(frozen=True)
class Metric:
    """One number of a run; smaller is better unless it says otherwise.

    Args:
        name: As in the files.
        title: As on the page.
        explanation: A sentence for the reader.
        read: The number of a run that is done, None where it has none.
        digits: Behind the point.
        unit: What it is counted in.
        judged: Whether being worse than the source model's number is marked.
        larger_is_better: Whether the best of a column is its largest number.
    """

    name: str
    title: str
    explanation: str
    read: Callable[[RunResult], float | None]
    digits: int = 1
    unit: str = "%"
    judged: bool = True
    larger_is_better: bool = False

    def badness(self, value: float) -> float:
        """Larger is worse."""
        return -value if self.larger_is_better else value

    def show(self, value: float) -> str:
        """The number as a table shows it, without its unit."""
        return f"{value:.{self.digits}f}"


def _error(run: RunResult) -> float | None:
    return None if run.scores is None else 100 * run.scores.error


def _source_error(run: RunResult) -> float | None:
    return None if run.scores is None else 100 * run.scores.source_error


def _domain_error(run: RunResult) -> float | None:
    return None if run.scores is None else 100 * run.scores.domain_error


def _ece(run: RunResult) -> float | None:
    return None if run.scores is None else 100 * run.scores.ece


def _nll(run: RunResult) -> float | None:
    return None if run.scores is None else run.scores.nll


def _tvd(run: RunResult) -> float | None:
    return None if run.scores is None else 100 * run.scores.tvd


def _negative_flips(run: RunResult) -> float | None:
    return None if run.scores is None else 100 * run.scores.negative_flips


def _miou(run: RunResult) -> float | None:
    known = run.scores is not None and run.scores.miou is not None
    return 100 * run.scores.miou if known else None  # type: ignore[union-attr, operator]


def _domain_miou(run: RunResult) -> float | None:
    if run.scores is None or not run.scores.mious:
        return None
    return 100 * statistics.fmean(run.scores.mious.values())


def _cost(run: RunResult) -> float | None:
    return None if run.cost is None else run.cost.multiple


ERROR = Metric("error", "Error", "Share of wrong predictions over all samples, in %.", _error)
SOURCE_ERROR = Metric(
    "source_error", "Source", "The source model's error on the same samples, in %.", _source_error
)
DOMAIN_ERROR = Metric(
    "domain_error",
    "Error by domain",
    "The mean of the domains' errors, each domain counting once, in %.",
    _domain_error,
)
ECE = Metric("ece", "ECE", "Expected calibration error over 15 bins, in %.", _ece)
NLL = Metric("nll", "NLL", "Mean negative log likelihood of the true class, in nats.", _nll, 2, "")
TVD = Metric(
    "tvd",
    "TVD",
    "Total variation distance between predicted and true classes over the whole stream, in %.",
    _tvd,
)
NEGATIVE_FLIPS = Metric(
    "negative_flips",
    "Negative flips",
    "Share of samples that the source model has right and the method wrong, in %.",
    _negative_flips,
    judged=False,
)
COST = Metric(
    "cost",
    "Cost",
    "Time of a batch as a multiple of the source model's plain forward.",
    _cost,
    unit="×",
    judged=False,
)

MIOU = Metric(
    "miou",
    "mIoU",
    "Segmentation: mean intersection over union of the classes over all pixels, in %.",
    _miou,
    larger_is_better=True,
)
DOMAIN_MIOU = Metric(
    "domain_miou",
    "mIoU by domain",
    "Segmentation: the mean of the domains' mIoU, each domain counting once, in %.",
    _domain_miou,
    larger_is_better=True,
)

METRICS = (ERROR, DOMAIN_ERROR, ECE, NLL, TVD, NEGATIVE_FLIPS, COST)
AVERAGES = {"samples": ERROR, "domains": DOMAIN_ERROR}
"""The two ways to average errors: every sample counts once, or every domain."""


def metrics_of(runs: Iterable[RunResult]) -> tuple[Metric, ...]:
    """The metrics that tables of these runs show: mIoU where there are segmented images."""
    dense = any(_miou(run) is not None for run in runs)
    return (MIOU, *METRICS[:2], DOMAIN_MIOU, *METRICS[2:]) if dense else METRICS
