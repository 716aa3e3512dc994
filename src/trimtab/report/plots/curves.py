"""Something along the stream: one line a method, the mean over its seeds."""

import json
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from trimtab.bench.result import RunResult
from trimtab.report.domain_spans import Span
from trimtab.report.markup import Markup, element
from trimtab.report.metrics import ERROR, Metric
from trimtab.report.plots.bands import bands, room_below, words
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

SPOTS = 6
"""About how many points a line has."""


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
    spans: Sequence[Span] = (),
) -> Markup:
    """A plot of the curves.

    Args:
        drawn: By method.
        marks: How each looks.
        metric: What they are about.
        limits: Range of the upward axis.
        spans: The domains along the stream, where they come one after the other.
    """
    samples = max(curve[-1][0] for curve in drawn.values())
    x = across("samples seen", 0, samples)
    if spans:
        x = replace(x, name=f"{samples:,} samples, domain after domain", ticked=False)
    y = upward(f"{metric.title.lower() if metric is ERROR else metric.title} in %", *limits)
    places = {row: _places(curve, x.scale, y.scale) for row, curve in drawn.items()}
    lines = [
        _line(row, curve, marks[row], places[row], metric, behind=position >= CLEAR)
        for position, (row, curve) in enumerate(drawn.items())
    ]
    spots = [
        _spots(places[row], marks[row], position, behind=position >= CLEAR)
        for position, row in enumerate(drawn)
    ]
    return plot(
        f"{metric.title} along the stream",
        x,
        y,
        bands(spans, x.scale),
        *reversed(lines),  # what is drawn last lies on top
        *reversed(spots),
        below=room_below(spans),
        data=_data(drawn, marks, x.scale, spans),
    )


def _places(curve: Curve, x: Scale, y: Scale) -> list[tuple[float, float]]:
    """A stretch's number belongs to its middle; a stream of one stretch still needs two places."""
    ends = [0, *(sample for sample, _ in curve)]
    if len(curve) == 1:
        return [(x(0), y(curve[0][1])), (x(ends[1]), y(curve[0][1]))]
    return [
        (x((first + last) / 2), y(value))
        for first, last, (_, value) in zip(ends[:-1], ends[1:], curve, strict=True)
    ]


def _line(
    row: Row,
    curve: Curve,
    mark: Mark,
    places: Sequence[tuple[float, float]],
    metric: Metric,
    *,
    behind: bool,
) -> Markup:
    values = [value for _, value in curve]
    hint = (
        f"{row.label}: {metric.title} {values[0]:.1f} % at first, {values[-1]:.1f} % at last, "
        f"{min(values):.1f} to {max(values):.1f} % on the way"
    )
    return element(
        "g",
        element("title", hint),
        element("g", mark.line(places), class_="reach"),
        mark.line(places),
        class_="behind" if behind else None,
        data_method=mark.name,
    )


def _spots(
    places: Sequence[tuple[float, float]], mark: Mark, position: int, *, behind: bool
) -> Markup:
    """Points at some places of a line, at others than its neighbours': equal lines are seen so."""
    step = max(1, round(len(places) / SPOTS))
    first = round(position * step / CLEAR + 0.4 * step) % len(places)
    points = [mark.point(*place, 3) for place in places[first::step]]
    kind = "spots behind" if behind else "spots"
    return element("g", *points, class_=kind, data_method=mark.name)


def _data(
    drawn: Mapping[Row, Curve], marks: Mapping[Row, Mark], x: Scale, spans: Sequence[Span]
) -> str:
    """What the page's script shows for the stretch that is pointed at."""
    lines = [
        {
            "name": row.label,
            "look": marks[row].colour,
            "ends": [sample for sample, _ in curve],
            "values": [round(value, 1) for _, value in curve],
        }
        for row, curve in drawn.items()
    ]
    domains = [[span.last, words(span.domain)] for span in spans]
    frame = [round(x.start, 1), round(x.end, 1), x.high]
    return json.dumps({"frame": frame, "domains": domains, "lines": lines}, separators=(",", ":"))


def _stretches(run: RunResult) -> tuple[int, ...]:
    return () if run.scores is None else tuple(point.last_sample for point in run.scores.curve)
