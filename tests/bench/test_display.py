"""The live display."""

import io

from rich.console import Console

from bench.stores import tiny_spec
from trimtab.bench.display import follow
from trimtab.bench.result import RunResult


def test_failed_runs_are_returned_and_progress_is_shown() -> None:
    bad = RunResult(tiny_spec(), "failed", "2026-01-01T00:00:00Z", 1.0, error="no")
    paper = io.StringIO()
    console = Console(file=paper, width=120, force_terminal=True)
    assert follow(iter([None, bad]), 2, 2, console) == [bad]
    assert "2/2" in paper.getvalue()
    assert "0 running" in paper.getvalue()
    assert "a minute" in paper.getvalue()
