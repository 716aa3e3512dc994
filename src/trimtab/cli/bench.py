"""``trimtab bench``: every run of a suite, resumable, with a report at the end."""

import argparse
import os
from typing import TYPE_CHECKING, Any

from trimtab.bench.store import STORE

if TYPE_CHECKING:
    from rich.console import Console

    from trimtab.bench.result import RunResult


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

    from trimtab.bench import execution, suite
    from trimtab.core.spec import assignment

    console = Console()
    chosen = suite.load(args.suite, dict(map(assignment, args.set)))
    if args.dry_run:
        specs = execution.selected(chosen, args.only)
        for spec in specs:
            console.print(f"{spec.id}  {spec.command}", soft_wrap=True, highlight=False)
        console.print(f"{len(specs)} runs")
        return 0
    results = execution.run_suite(chosen, **execution_options(args, console), only=args.only)
    return status(results, args, console)


def execution_options(args: argparse.Namespace, console: "Console") -> dict[str, Any]:
    """What ``run_suite`` and ``run_specs`` take of the arguments above."""
    names = ("store", "workers", "threads", "ray")
    return {name: getattr(args, name) for name in names} | {"console": console}


def status(results: "list[RunResult]", args: argparse.Namespace, console: "Console") -> int:
    """Say where results are; the exit status, 1 where a run failed."""
    console.print(f"Results are in {args.store}; see them with: trimtab report {args.store}")
    return 1 if any(result.status == "failed" for result in results) else 0
