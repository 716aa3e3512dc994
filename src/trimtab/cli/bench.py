"""``trimtab bench``: every run of a suite, resumable, with a report at the end."""

import argparse
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from trimtab.bench.spec import RunSpec

STORE = "trimtab-results"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("suite", help="a ready-made suite (trimtab list suites) or a .toml file")
    add_execution_arguments(parser)
    parser.add_argument(
        "--only", metavar="TEXT", action="append", default=[], help="runs whose spec has this text"
    )
    parser.add_argument(
        "--set",
        metavar="FIELD=VALUE",
        action="append",
        default=[],
        help="give a field of every run another value, e.g. --set images_per_domain=500",
    )
    parser.add_argument("--dry-run", action="store_true", help="list the runs, do none")


def add_execution_arguments(parser: argparse.ArgumentParser) -> None:
    """Where results go and how runs are done."""
    parser.add_argument("--store", default=STORE, help="folder of results (default: %(default)s)")
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count() or 1, help="runs at a time (default: cores)"
    )
    parser.add_argument("--threads", type=int, default=1, help="threads a run (default: 1)")
    parser.add_argument(
        "--ray", metavar="ADDRESS", help="run on a Ray cluster; 'local' starts one here"
    )


def run(args: argparse.Namespace) -> int:
    from rich.console import Console

    from trimtab.bench import suite
    from trimtab.core.spec import assignment

    console = Console()
    chosen = suite.load(args.suite, dict(map(assignment, args.set)))
    specs = [spec for spec in chosen.runs if all(text in spec.canonical() for text in args.only)]
    if not specs:
        raise ValueError(f"no run of {args.suite} has {' and '.join(args.only)} in its spec")
    if args.dry_run:
        for spec in specs:
            console.print(f"{spec.id}  {spec.command}", soft_wrap=True, highlight=False)
        console.print(f"{len(specs)} runs")
        return 0
    return execute(specs, args, console, chosen.title)


def execute(
    specs: "list[RunSpec]", args: argparse.Namespace, console: "Console", title: str
) -> int:
    """Do the runs that are not done yet, show how they go, and say where to look."""
    from trimtab.bench import executors
    from trimtab.bench.display import follow
    from trimtab.bench.plan import with_fingerprints
    from trimtab.bench.store import RunStore

    store = RunStore(args.store)
    specs = with_fingerprints(specs)
    waiting = [spec for spec in specs if not store.has(spec)]
    console.print(f"{title}: {len(specs)} runs, {len(specs) - len(waiting)} of them done already")
    if args.ray:
        executor = executors.ray_cluster(args.ray)
    elif args.workers > 1:
        executor = executors.processes(min(args.workers, max(1, len(waiting))), args.threads)
    else:
        executor = executors.here(args.threads)
    results = executor(waiting, store) if waiting else iter(())
    failed = follow(results, len(waiting), max(1, args.workers), console)
    for result in failed:
        console.print(f"[red]failed[/] {result.spec.command}\n  {result.error}", soft_wrap=True)
    console.print(f"Results are in {args.store}; see them with: trimtab report {args.store}")
    return 1 if failed else 0
