"""Something along the stream: one line a method, the mean over its seeds."""

import statistics
from collections import Counter
from collections.abc import Mapping

from trimtab.bench.result import RunResult
from trimtab.report.markup import Markup, element
from trimtab.report.metrics import ERROR, Metric
from trimtab.report.plots.frame import across, plot, upward
from trimtab.report.plots.marks import Mark
from trimtab.report.plots.scale import Scale
from trimtab.report.settings import Row
from trimtab.report.table import Cell

Curve = list[tuple[int, float]]
"""Last sample of a stretch, and a number in %."""

LEAST_SAMPLES = 50

CLEAR = 9
"""So many lines can be told apart; further ones are pale until they are asked for."""


def mean_curve(cell: Cell, metric: Metric) -> Curve:
    """Error or TVD in %, over those seeds whose stretches are the same; the most frequent win."""
    runs = [run for run in cell.done if run.scores is not None and run.scores.curve]
    if not runs:
        return []
    counts = Counter(_stretches(run) for run in runs)
    stretches = counts.most_common(1)[0][0]
    columns = zip(
        *(
            [100 * getattr(point, metric.name) for point in run.scores.curve]
            for run in runs
            if run.scores is not None and _stretches(run) == stretches
        ),
        strict=True,
    )
    means = [statistics.fmean(column) for column in columns]
    return merged(list(zip(stretches, means, strict=True)))


def merged(curve: Curve) -> Curve:
    """Neighbouring stretches taken together until each has ``LEAST_SAMPLES``: fewer are noise."""
    found: Curve = []
    begin, before, total = 0, 0, 0.0
    for sample, value in curve:
        total += value * (sample - before)
        before = sample
        if sample - begin >= LEAST_SAMPLES or sample == curve[-1][0]:
            found.append((sample, total / (sample - begin)))
            begin, total = sample, 0.0
    return found


def curves(
    drawn: Mapping[Row, Curve],
    marks: Mapping[Row, Mark],
    metric: Metric,
    limits: tuple[float, float],
) -> Markup:
    """A plot of the curves; ``limits`` is the range of its upward axis."""
    samples = max(curve[-1][0] for curve in drawn.values())
    x = across("samples seen", 0, samples)
    y = upward(f"{metric.title.lower() if metric is ERROR else metric.title} in %", *limits)
    lines = [
        _line(row, curve, marks[row], x.scale, y.scale, metric, behind=position >= CLEAR)
        for position, (row, curve) in enumerate(drawn.items())
    ]
    # What is drawn last lies on top.
    return plot(f"{metric.title} along the stream", x, y, *reversed(lines))


def _line(
    row: Row, curve: Curve, mark: Mark, x: Scale, y: Scale, metric: Metric, *, behind: bool
) -> Markup:
    values = [value for _, value in curve]
    hint = (
        f"{row.label}: {metric.title} {values[0]:.1f} % at first, {values[-1]:.1f} % at last, "
        f"{min(values):.1f} to {max(values):.1f} % on the way"
    )
    # A stretch's number belongs to its middle; a stream of one stretch still needs two places.
    ends = [0, *(sample for sample, _ in curve)]
    places = [
        (x((first + last) / 2), y(value))
        for first, last, value in zip(ends[:-1], ends[1:], values, strict=True)
    ]
    if len(places) == 1:
        places = [(x(0), places[0][1]), (x(ends[1]), places[0][1])]
    wide = mark.line(places)
    return element(
        "g",
        element("title", hint),
        element("g", wide, class_="reach"),
        mark.line(places),
        class_="behind" if behind else None,
        data_method=mark.name,
    )


def _stretches(run: RunResult) -> tuple[int, ...]:
    return () if run.scores is None else tuple(point.last_sample for point in run.scores.curve)
