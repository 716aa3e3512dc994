"""``trimtab demo``: six methods in the paper's four settings, on the images that come along."""

import argparse
from pathlib import Path

from trimtab.cli.bench import add_execution_arguments, execution_options, status


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_execution_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from rich.console import Console

    from trimtab.bench import RunStore, run_suite
    from trimtab.core.files import write_whole
    from trimtab.report.formats.to_terminal import to_terminal
    from trimtab.report.page import page
    from trimtab.report.table import tables

    console = Console()
    done = run_suite("quick", **execution_options(args, console))
    results = list(RunStore(args.store))
    for table in tables(results):
        console.print(to_terminal(table))
    path = Path(args.store) / "report.html"
    write_whole(path, page(results, Path(args.store).resolve().name).encode())
    console.print(f"Plots, calibration and costs: open {path.resolve()} in a browser.")
    return status(done, args, console)
