"""``trimtab demo``: six methods in the paper's four settings, on the images that come along."""

import argparse
from pathlib import Path

from trimtab.cli.bench import add_execution_arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_execution_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from rich.console import Console

    from trimtab.bench import suite
    from trimtab.bench.store import RunStore
    from trimtab.cli.bench import execute
    from trimtab.report import page, terminal
    from trimtab.report.metrics import AVERAGES

    from trimtab.core.files import write_whole

    console = Console()
    chosen = suite.load("quick")
    status = execute(list(chosen.runs), args, console, chosen.title)
    results = list(RunStore(args.store))
    for table in terminal.tables_of(results):
        console.print(table)
    path = Path(args.store) / "report.html"
    write_whole(path, page.page(results, Path(args.store).name, AVERAGES["samples"]).encode())
    console.print(f"Open {path} in a browser for plots, calibration and costs.")
    return status
