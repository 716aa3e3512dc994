"""Running suites from Python: what is not done yet is done, and all results are returned."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console

from trimtab.bench import executors, suite
from trimtab.bench.display import follow
from trimtab.bench.examples import keep_examples
from trimtab.bench.names import counted, short_labels
from trimtab.bench.plan import longest_first, planned
from trimtab.bench.result import RunResult
from trimtab.bench.spec import RunSpec
from trimtab.bench.store import STORE, RunStore

PLAIN: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False}
"""How texts of users are printed: as they are."""


def run_suite(
    name: str | suite.Suite,
    store: str | os.PathLike[str] = STORE,
    *,
    changes: Mapping[str, Any] | None = None,
    only: Sequence[str] = (),
    workers: int = 1,
    threads: int = 1,
    ray: str | None = None,
    console: Console | None = None,
) -> list[RunResult]:
    """Do the runs of a suite that are not done yet; the results of all of them, in its order.

    Args:
        name: A ready-made suite, the path of a ``.toml`` file, or a Suite.
        store: The folder that keeps results; a suite that was stopped goes on from it.
        changes: Fields of every run that get another value, such as ``{"images_per_domain": 50}``.
        only: Runs whose spec has each of these texts in it.
        workers: Runs at a time, each in a process; 1 stays in this process.
        threads: Threads of each run.
        ray: Address of a Ray cluster to run on, or ``"local"``.
        console: Shows how it goes; None is silent.
    """
    if isinstance(name, suite.Suite) and changes:
        raise ValueError("a Suite has its runs already; give changes to suite.load")
    chosen = name if isinstance(name, suite.Suite) else suite.load(name, changes)
    return run_specs(
        selected(chosen, only),
        store,
        title=chosen.title,
        where=chosen.name,
        workers=workers,
        threads=threads,
        ray=ray,
        console=console,
    )


def selected(chosen: suite.Suite, only: Sequence[str] = ()) -> list[RunSpec]:
    """The runs of a suite whose spec has each of these texts in it; ValueError without any."""
    specs = [spec for spec in chosen.runs if all(text in spec.canonical() for text in only)]
    if not specs:
        raise ValueError(f"no run of {chosen.name} has {' and '.join(only)} in its spec")
    return specs


def run_specs(
    specs: Sequence[RunSpec],
    store: str | os.PathLike[str] = STORE,
    *,
    title: str = "runs",
    where: str = "",
    workers: int = 1,
    threads: int = 1,
    ray: str | None = None,
    console: Console | None = None,
) -> list[RunResult]:
    """Do these runs unless they are done; results in their order, failed ones included.

    Runs that another process holds at this moment are left to it and missing in the list. A
    spec that names nothing known is a ValueError before the first run; ``where`` the specs come
    from stands in it.
    """
    console = console or Console(quiet=True)
    results = RunStore(store)
    specs = planned(specs, where or title)
    waiting = [spec for spec in longest_first(specs) if not results.has(spec)]
    done = len(specs) - len(waiting)
    already = f", {done} of them done already" if done else ""
    _say(f"{title}: {counted(len(specs), 'run')}{already}", console)
    came = follow(
        _done(waiting, results, workers, threads, ray),
        len(waiting),
        max(1, workers),
        console,
        short_labels(specs),
    )
    _tell(came, console)
    keep_examples(store, specs)
    found = (results.get(spec) for spec in specs)
    return [result for result in found if result is not None]


def _tell(came: Sequence[RunResult | None], console: Console) -> None:
    """Which runs failed and why, and how many another process holds."""
    for result in came:
        if result is not None and result.status == "failed":
            told = f"failed: {result.spec.command}\n  {result.error}"
            console.print(told, soft_wrap=True, **PLAIN)
    elsewhere = sum(result is None for result in came)
    if elsewhere:
        whose = "all of them" if elsewhere == len(came) else f"{elsewhere} of {len(came)}"
        _say(
            f"{counted(len(came), 'run')} to do: {whose} claimed or done by another process on "
            "this store and left to it. Start again when it is done to see them.",
            console,
        )


def _say(text: str, console: Console) -> None:
    """A sentence: broken between words on a terminal, one line in a file."""
    console.print(text, soft_wrap=not console.is_terminal, **PLAIN)


def _done(
    specs: Sequence[RunSpec], store: RunStore, workers: int, threads: int, ray: str | None
) -> Iterator[RunResult | None]:
    if not specs:
        return iter(())
    if ray:
        return executors.ray_cluster(ray)(specs, store)
    if workers > 1:
        return executors.processes(workers, threads)(specs, store)
    return executors.here(threads)(specs, store)
