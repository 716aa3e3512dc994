"""``trimtab demo``: methods side by side, on the images that come along.

Classification: seven methods in the paper's four settings. Segmentation: those that suit it.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from trimtab.cli.bench import add_execution_arguments, execution_options, status

if TYPE_CHECKING:
    from rich.console import Console


SUITES = {"classification": "quick", "segmentation": "segmentation"}
"""The suite of each task."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--task",
        choices=tuple(SUITES),
        default="classification",
        help="segmentation: scenes of many pieces, a class for each pixel",
    )
    add_execution_arguments(parser)
    parser.add_argument(
        "--images", type=int, metavar="N", help="images per domain, for a shorter look"
    )


def run(args: argparse.Namespace) -> int:
    from trimtab.bench import run_suite
    from trimtab.cli.console import console

    terminal = console()
    changes = {} if args.images is None else {"images_per_domain": args.images}
    options = execution_options(args, terminal)
    results = run_suite(SUITES[args.task], changes=changes, **options)
    show(Path(args.store), terminal)
    return status(results, args, terminal)


def show(store: Path, terminal: "Console") -> None:
    """The tables of a store, and where its page is."""
    from trimtab.bench import RunStore
    from trimtab.bench.example_files import ExampleFiles
    from trimtab.core.files import write_whole
    from trimtab.report.formats.to_terminal import to_terminal
    from trimtab.report.metrics import ERROR, MIOU
    from trimtab.report.page import page
    from trimtab.report.table import tables

    results = list(RunStore(store))
    if not results:
        return
    for table in tables(results):
        for metric in (ERROR, MIOU):
            if metric is ERROR or metric in table.metrics:
                for part in to_terminal(table, terminal.width, metric, bold=terminal.is_terminal):
                    terminal.print(part)
    path = store / "report.html"
    images = ExampleFiles(store).read()
    write_whole(path, page(results, store.resolve().name, images=images).encode())
    terminal.print("Plots, calibration and costs, in a browser:", path.resolve(), soft_wrap=True)
