"""How a suite is going, on the terminal."""

from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from trimtab.bench.result import RunResult


def follow(results: Iterator[RunResult | None], total: int, console: Console) -> list[RunResult]:
    """Show a bar until all results are there; those that failed."""
    failed = []
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[last]}"),
    )
    with Progress(*columns, console=console, disable=total == 0) as progress:
        task = progress.add_task("runs", total=total, last="")
        for result in results:
            last = "done elsewhere" if result is None else _line(result)
            if result is not None and result.status == "failed":
                failed.append(result)
            progress.update(task, advance=1, last=last)
    return failed


def _line(result: RunResult) -> str:
    if result.scores is None:
        return f"{result.spec.label} failed"
    return (
        f"{result.spec.label}, {result.spec.scenario}: error {100 * result.scores.error:.1f} %, "
        f"{result.seconds:.0f} s"
    )
