"""How a suite is going: a line that moves on a terminal, a line for each finished run elsewhere."""

import time
from collections.abc import Callable, Iterator, Mapping

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column

from trimtab.bench.names import Identity, identity, method_title, scenario_title
from trimtab.bench.result import RunResult

Outcomes = Iterator[RunResult | None]
"""Results as they come, None for a run that another process does."""


def follow(
    results: Outcomes,
    total: int,
    at_once: int,
    console: Console,
    labels: Mapping[Identity, str] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> list[RunResult | None]:
    """Show runs done and running, their rate and the time left; return all results.

    Args:
        total: How many there will be.
        at_once: Most runs at a time.
        labels: Short names of the methods, where two differ only in options.
        clock: Seconds since some moment.
    """
    if not total:
        return list(results)
    show = _on_a_terminal if console.is_terminal else _line_by_line
    return list(show(results, total, at_once, console, labels or {}, clock))


def _line_by_line(
    results: Outcomes,
    total: int,
    at_once: int,
    console: Console,
    labels: Mapping[Identity, str],
    clock: Callable[[], float],
) -> Outcomes:
    """For files and pipes: plain lines, none of them cut."""
    digits = len(str(total))
    for done, result in enumerate(results, start=1):
        line = f"[{done:{digits}}/{total}] {_words(result, labels)}"
        console.print(line, soft_wrap=True, markup=False, emoji=False, highlight=False)
        yield result


def _on_a_terminal(
    results: Outcomes,
    total: int,
    at_once: int,
    console: Console,
    labels: Mapping[Identity, str],
    clock: Callable[[], float],
) -> Outcomes:
    """Counter, bar, rate and time left keep their places; the last run takes what is left."""
    rest = Column(ratio=1, no_wrap=True, overflow="ellipsis")
    columns = (
        MofNCompleteColumn(),
        BarColumn(bar_width=12),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[state]}", markup=False),
        TextColumn("{task.fields[last]}", markup=False, table_column=rest),
    )
    with Progress(*columns, console=console, expand=True, get_time=clock) as progress:
        task = progress.add_task("", total=total, state=_state(0, total, at_once, 0.0), last="")
        began = clock()
        for done, result in enumerate(results, start=1):
            state = _state(done, total, at_once, clock() - began)
            progress.update(task, advance=1, state=state, last=_words(result, labels))
            yield result


def _state(done: int, total: int, at_once: int, seconds: float) -> str:
    rate = f", {60 * done / seconds:.1f}/min" if seconds else ""
    return f"{min(at_once, total - done)} running{rate}"


def _words(result: RunResult | None, labels: Mapping[Identity, str]) -> str:
    if result is None:
        return "done elsewhere"
    spec = result.spec
    name = labels.get(identity(spec)) or method_title(spec.method)
    where = f"{name} · {scenario_title(spec.scenario)} · {spec.model}"
    if result.scores is None:
        return f"{where}: failed"
    return f"{where}: error {100 * result.scores.error:.1f} %, {result.seconds:.0f} s"
