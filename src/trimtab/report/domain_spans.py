"""Where domains begin and end along a stream."""

from typing import NamedTuple

from trimtab.bench.result import DomainStart, RunResult
from trimtab.report.table import Cell

IN_TURN = ("continual", "correlated")
"""Scenarios that show each domain once, one after the other."""


class Span(NamedTuple):
    """Samples of one domain: from how many on, up to how many, and its name."""

    first: int
    last: int
    domain: str


def domain_spans(cell: Cell) -> list[Span]:
    """The spans that all seeds share; none where they differ or domains are mixed."""
    found = [_spans(run) for run in cell.done]
    return found[0] if found and all(spans == found[0] for spans in found) else []


def _spans(run: RunResult) -> list[Span]:
    if run.scores is None:
        return []
    starts = list(run.scores.domain_starts) or _in_turn(run)
    if not starts:
        return []
    ends = [*(start.sample for start in starts[1:]), run.scores.samples]
    return [Span(start.sample, end, start.domain) for start, end in zip(starts, ends, strict=True)]


def _in_turn(run: RunResult) -> list[DomainStart]:
    """Results that do not say it: each domain once, all of the number of images in the spec."""
    scores, images = run.scores, run.spec.images_per_domain
    name = run.spec.scenario.partition("(")[0]
    if scores is None or images is None or name not in IN_TURN:
        return []
    if scores.samples != images * len(scores.errors):
        return []
    return [DomainStart(images * place, domain) for place, domain in enumerate(scores.errors)]
