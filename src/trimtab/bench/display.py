"""How a suite is going, on the terminal."""

import time
from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from trimtab.bench.result import RunResult


def follow(
    results: Iterator[RunResult | None], total: int, at_once: int, console: Console
) -> list[RunResult]:
    """Show runs done and running, their rate and the time left; return those that failed.

    Args:
        results: As they come, None for a run that another process does.
        total: How many there will be.
        at_once: Most runs at a time.
    """
    failed = []
    columns = (
        MofNCompleteColumn(),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[state]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[last]}"),
    )
    with Progress(*columns, console=console, disable=total == 0) as progress:
        task = progress.add_task("", total=total, state=_state(0, total, at_once, 0.0), last="")
        clock = time.monotonic()
        for done, result in enumerate(results, start=1):
            if result is not None and result.status == "failed":
                failed.append(result)
            state = _state(done, total, at_once, time.monotonic() - clock)
            last = "done elsewhere" if result is None else _line(result)
            progress.update(task, advance=1, state=state, last=last)
    return failed


def _state(done: int, total: int, at_once: int, seconds: float) -> str:
    rate = f", {60 * done / seconds:.1f} a minute" if seconds else ""
    return f"{min(at_once, total - done)} running{rate}"


def _line(result: RunResult) -> str:
    if result.scores is None:
        return f"{result.spec.label} failed"
    return (
        f"{result.spec.label}, {result.spec.scenario}: error {100 * result.scores.error:.1f} %, "
        f"{result.seconds:.0f} s"
    )
