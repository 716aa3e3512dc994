"""The live display."""

import io
import itertools
import re

import pytest
from rich.console import Console

from bench.stores import tiny_spec
from trimtab.bench.display import follow
from trimtab.bench.result import RunResult

LONG = "tent + source_ensembling(momentum=0.99) + prior_correction + laplacian"


def bad(method: str = "source") -> RunResult:
    spec = tiny_spec(method=method)
    return RunResult(spec, "failed", "2026-01-01T00:00:00Z", 1.0, error="no")


def followed(width: int, *, terminal: bool) -> str:
    paper, seconds = io.StringIO(), itertools.count(step=5)
    console = Console(file=paper, width=width, force_terminal=terminal, color_system=None)
    results = [None, bad(), bad(LONG)]
    assert follow(iter(results), 10, 2, console, clock=lambda: float(next(seconds))) == results
    return paper.getvalue()


@pytest.mark.parametrize("width", [80, 120])
def test_counter_bar_and_time_left_survive_long_names(width: int) -> None:
    last = followed(width, terminal=True).rstrip("\x1b[?25h").splitlines()[-1].split("\x1b[2K")[-1]
    assert re.search(r" 3/10 ━+╸? +\d+:\d\d 2 running, \d+\.\d/min TENT \+ source", last)
    assert len(last.rstrip()) <= width
    assert "…" in last


def test_a_file_gets_a_plain_line_for_each_run_and_none_is_cut() -> None:
    assert followed(80, terminal=False).splitlines() == [
        "[ 1/10] done elsewhere",
        "[ 2/10] Source · continual · fashion_resnet20_gn: failed",
        f"[ 3/10] TENT{LONG.removeprefix('tent')} · continual · fashion_resnet20_gn: failed",
    ]
