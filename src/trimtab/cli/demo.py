"""``trimtab demo``: seven methods in the paper's four settings, on the images that come along."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from trimtab.cli.bench import add_execution_arguments, execution_options, status

if TYPE_CHECKING:
    from rich.console import Console


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_execution_arguments(parser)
    parser.add_argument(
        "--images", type=int, metavar="N", help="images per domain, for a shorter look (200)"
    )


def run(args: argparse.Namespace) -> int:
    from trimtab.bench import run_suite
    from trimtab.cli.console import console

    terminal = console()
    changes = {} if args.images is None else {"images_per_domain": args.images}
    results = run_suite("quick", changes=changes, **execution_options(args, terminal))
    show(Path(args.store), terminal)
    return status(results, args, terminal)


def show(store: Path, terminal: "Console") -> None:
    """The tables of a store, and where its page is."""
    from trimtab.bench import RunStore
    from trimtab.bench.example_files import ExampleFiles
    from trimtab.core.files import write_whole
    from trimtab.report.formats.to_terminal import to_terminal
    from trimtab.report.page import page
    from trimtab.report.table import tables

    results = list(RunStore(store))
    if not results:
        return
    for table in tables(results):
        for part in to_terminal(table, terminal.width, bold=terminal.is_terminal):
            terminal.print(part)
    path = store / "report.html"
    images = ExampleFiles(store).read()
    write_whole(path, page(results, store.resolve().name, images=images).encode())
    terminal.print("Plots, calibration and costs, in a browser:", path.resolve(), soft_wrap=True)
