"""``trimtab predict``: classes of people's own images, in a table, with adaptation on the way."""

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from trimtab.predict.images import Summary

DEFAULT_MODEL = "fashion_resnet20_bn"
SHOWN = 10
"""Most bad images that are listed at the end; all are in the table."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to predict, with what, and where results go."""
    parser.add_argument(
        "images",
        nargs="+",
        metavar="IMAGES",
        help="files, folders, patterns, animations, videos; - reads paths from standard input",
    )
    parser.add_argument(
        "--model",
        help="a name (trimtab models), timm/NAME or module:callable; without it, a small net for "
        "pictures of clothes, to try things out",
    )
    parser.add_argument("--weights", type=Path, help="a file of the network's weights")
    parser.add_argument("--num-classes", type=int, help="where the file's head has another size")
    parser.add_argument(
        "--method", default="trimtab", help="a name or a composition (default: %(default)s)"
    )
    parser.add_argument(
        "--option", metavar="NAME=VALUE", action="append", default=[], help="of the method"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("predictions.csv"), help="default: %(default)s"
    )
    parser.add_argument(
        "--state",
        type=Path,
        help="the stream's state, to go on from (default: OUT.state.safetensors)",
    )
    parser.add_argument("--classes", type=Path, help="names of classes: a line each, or JSON")
    parser.add_argument("--size", type=int, help="pixels a side that the network takes")
    parser.add_argument("--resize", type=int, help="pixels of the shorter side before the crop")
    parser.add_argument("--batch-size", type=int, default=64, help="default: %(default)s")
    parser.add_argument("--window", type=int, help="samples an update, for small batches")
    parser.add_argument("--seed", type=int, default=0)


def run(args: argparse.Namespace) -> int:
    """Predict; 1 where images could not be read."""
    from trimtab.cli.console import console
    from trimtab.core.spec import assignment
    from trimtab.predict.frames import count
    from trimtab.predict.images import predict_images

    terminal = console(stderr=True)
    files = count(args.images)
    if args.model is None:
        terminal.print(f"No --model: {DEFAULT_MODEL}, a small net for pictures of clothes.")
    names = ("method", "out", "state", "weights", "num_classes", "classes", "size", "resize")
    given = {name: getattr(args, name) for name in (*names, "batch_size", "window", "seed")}
    options = dict(map(assignment, args.option))
    clash = sorted(given.keys() & options.keys())
    if clash:
        raise ValueError(f"--option {clash[0]}: say --{clash[0].replace('_', '-')} instead")
    with _progress(terminal, files) as progress:
        summary = predict_images(
            args.images, args.model or DEFAULT_MODEL, progress=progress, **given, **options
        )
    _tell(summary, terminal)
    return 1 if summary.bad else 0


@contextmanager
def _progress(terminal: "Console", files: int | None) -> "Iterator[Callable[[Summary], None]]":
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns: Any = (MofNCompleteColumn(), BarColumn(), TimeRemainingColumn(), TextColumn("images"))
    with Progress(*columns, console=terminal, disable=not terminal.is_terminal) as bar:
        task = bar.add_task("", total=files)

        def show(summary: "Summary") -> None:
            done = summary.predicted + summary.earlier + len(summary.bad)
            total = None if files is None else max(files, done)  # a video holds many
            bar.update(task, completed=done, total=total)

        yield show


def _tell(summary: "Summary", terminal: "Console") -> None:
    """How many of what, and where it is."""
    from trimtab.bench.names import counted

    for name, error in summary.bad[:SHOWN]:
        terminal.print(f"passed over: {name}: {error}", soft_wrap=True)
    if len(summary.bad) > SHOWN:
        terminal.print(f"... and {len(summary.bad) - SHOWN:,} more: see the column 'error'")
    earlier = f", {summary.earlier:,} were there already" if summary.earlier else ""
    bad = f", {len(summary.bad):,} could not be read" if summary.bad else ""
    terminal.print(f"{counted(summary.predicted, 'image')} predicted{earlier}{bad}.")
    terminal.print(f"Predictions: {summary.out}", soft_wrap=True)
    terminal.print(f"State of the stream: {summary.state}", soft_wrap=True)
