"""Curves along a stream, averaged over seeds and cut into equal shares."""

import itertools
import statistics
from collections.abc import Sequence

from trimtab.bench.result import Scores
from trimtab.report.metrics import Metric
from trimtab.reproduce.findings import Findings


def shares(scores: Scores, metric: Metric, count: int) -> list[float]:
    """Error or TVD in %, as the means over ``count`` equal parts of the stream."""
    points = [100 * getattr(point, metric.name) for point in scores.curve]
    sizes = _sizes(scores)
    bounds = [round(len(points) * part / count) for part in range(count + 1)]
    parts = [slice(start, stop) for start, stop in itertools.pairwise(bounds) if stop > start]
    return [_mean(points[part], sizes[part]) for part in parts]


def mean_shares(findings: Findings, metric: Metric, count: int) -> list[float]:
    """The same, averaged over all runs; empty without any."""
    found = [shares(r.scores, metric, count) for r in findings.results if r.scores is not None]
    return [statistics.fmean(values) for values in zip(*found, strict=False)]


def stream_length(findings: Findings) -> float:
    """Samples in a stream, on average over the runs."""
    return findings.mean_of(lambda scores: float(scores.samples)) or 0.0


def placed(values: Sequence[float], length: float) -> list[tuple[float, float]]:
    """Points at the end of each share of a stream."""
    return [(length * (part + 1) / len(values), value) for part, value in enumerate(values)]


def _sizes(scores: Scores) -> list[int]:
    stops = [point.last_sample for point in scores.curve]
    return [stop - start for start, stop in zip([0, *stops[:-1]], stops, strict=True)]


def _mean(values: Sequence[float], sizes: Sequence[int]) -> float:
    return sum(v * n for v, n in zip(values, sizes, strict=True)) / sum(sizes)
