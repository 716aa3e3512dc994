"""``trimtab bench``: every run of a suite, resumable, with a report at the end."""

import argparse
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trimtab.bench.store import STORE

if TYPE_CHECKING:
    from rich.console import Console

    from trimtab.bench.result import RunResult

CORES = os.cpu_count() or 1


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
    parser.add_argument(
        "--submission",
        metavar="FILE.json",
        type=Path,
        help="write the suite's results into one file, for trimtab leaderboard and trimtab report",
    )
    parser.add_argument("--by", metavar="NAME", default="", help="whose submission it is")
    parser.add_argument(
        "--known",
        metavar="PLACE",
        type=Path,
        help="a submission or a store whose results need not be made again, and are handed on",
    )


def add_execution_arguments(parser: argparse.ArgumentParser) -> None:
    """Where results go and how runs are done."""
    parser.add_argument("--store", default=STORE, help="folder of results (default: %(default)s)")
    parser.add_argument(
        "--workers", type=at_most, default=CORES, help="runs at a time (default: cores)"
    )
    parser.add_argument("--threads", type=at_most, default=1, help="threads per run (default: 1)")
    parser.add_argument(
        "--ray", metavar="ADDRESS", help="run on a Ray cluster; 'local' starts one here"
    )


def at_most(text: str) -> int:
    """A number of processes or threads that this machine can bear."""
    most = max(64, 4 * CORES)
    if not (text.isdecimal() and len(text) < 10 and 1 <= int(text) <= most):
        raise argparse.ArgumentTypeError(
            f"must be a whole number from 1 to {most} ({CORES} cores are here), got {text[:20]}"
        )
    return int(text)


def run(args: argparse.Namespace) -> int:
    from trimtab.bench import execution, suite
    from trimtab.bench.names import counted
    from trimtab.cli.console import console
    from trimtab.core.spec import assignment

    terminal = console()
    chosen = suite.load(args.suite, dict(map(assignment, args.set)))
    if args.dry_run:
        specs = execution.selected(chosen, args.only)
        for spec in specs:
            terminal.print(f"{spec.id}  {spec.command}", soft_wrap=True)
        terminal.print(counted(len(specs), "run"))
        return 0
    known = _taken_over(args.known, args.store) if args.known is not None else []
    results = execution.run_suite(chosen, **execution_options(args, terminal), only=args.only)
    code = status(results, args, terminal)
    if args.submission is not None:
        here = {result.spec.id: result for result in (*known, *results)}
        _submit(args.submission, chosen.title, args.by, list(here.values()), terminal)
    return code


def _taken_over(place: Path, store: str) -> "list[RunResult]":
    """Finished runs of another place; those that the store lacks are put there."""
    from trimtab.bench.store import RunStore
    from trimtab.bench.submission import read_results

    if not place.exists():
        raise ValueError(f"--known must be a submission or a folder of results, got {place}")
    known, ours = [run for run in read_results(place) if run.status == "done"], RunStore(store)
    for result in known:
        if not ours.has(result.spec):
            ours.put(result)
    return known


def _submit(
    path: Path, title: str, by: str, results: "list[RunResult]", console: "Console"
) -> None:
    from trimtab.bench.submission import Submission, write_submission

    digest = write_submission(path, Submission(title, by, tuple(results)))
    console.print(f"Wrote {path} ({digest[:8]}).", soft_wrap=True, highlight=False)


def execution_options(args: argparse.Namespace, console: "Console") -> dict[str, Any]:
    """What ``run_suite`` and ``run_specs`` take of the arguments above."""
    names = ("store", "workers", "threads", "ray")
    return {name: getattr(args, name) for name in names} | {"console": console}


def status(results: "list[RunResult]", args: argparse.Namespace, console: "Console") -> int:
    """Say where results are; the exit status, 1 where a run failed."""
    told = f"Results are in {args.store}; see them with: trimtab report {shlex.quote(args.store)}"
    console.print(told, soft_wrap=True)
    return 1 if any(result.status == "failed" for result in results) else 0
