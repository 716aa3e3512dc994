"""``trimtab compare``: which method looks best on your own unlabelled images."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from trimtab.predict.compare import Comparison, Estimate

SHOWN = 5
"""Most bad images that are listed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to look at, with what, and where results go."""
    parser.add_argument(
        "--images", nargs="+", required=True, metavar="FOLDER", help="files, folders or patterns"
    )
    parser.add_argument(
        "--model", required=True, help="a name (trimtab models), timm/NAME or module:callable"
    )
    parser.add_argument("--weights", type=Path, help="a file of the network's weights")
    parser.add_argument("--num-classes", type=int, help="where the file's head has another size")
    parser.add_argument(
        "--method", action="append", help="a method or composition to try; may be given repeatedly"
    )
    parser.add_argument("--size", type=int, help="pixels a side that the network takes")
    parser.add_argument("--resize", type=int, help="pixels of the shorter side before the crop")
    parser.add_argument("--batch-size", type=int, default=64, help="default: %(default)s")
    parser.add_argument("--limit", type=int, help="look at so many images at most")
    parser.add_argument("--out", type=Path, help="write all of it to a JSON file")
    parser.add_argument("--seed", type=int, default=0)


def run(args: argparse.Namespace) -> int:
    """Compare; 1 where images could not be read."""
    from trimtab.cli.console import console
    from trimtab.core.files import write_whole
    from trimtab.predict.batches import ImageBatches
    from trimtab.predict.compare import METHODS, compare
    from trimtab.predict.frames import count
    from trimtab.predict.preparation import network, preparation

    terminal = console(stderr=True)
    prepare = preparation(args.model, args.size, args.resize)
    files = count(args.images)
    batches = ImageBatches(args.images, prepare, args.batch_size, args.limit)
    backbone = network(args.model, args.weights, args.num_classes)
    total = None if files is None else min(files, args.limit or files)
    with _progress(terminal, total) as show:
        found = compare(backbone, batches, args.method or METHODS, seed=args.seed, progress=show)
    _tell(found, batches.bad, console())
    if args.out is not None:
        write_whole(args.out, (json.dumps(found.record(), indent=1) + "\n").encode())
        terminal.print(f"All of it: {args.out}", soft_wrap=True)
    return 1 if batches.bad else 0


def _progress(terminal: "Console", total: int | None) -> Any:
    from contextlib import contextmanager

    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    @contextmanager
    def shown() -> Any:
        columns: Any = (MofNCompleteColumn(), BarColumn(), TimeRemainingColumn())
        with Progress(*columns, console=terminal, disable=not terminal.is_terminal) as bar:
            task = bar.add_task("", total=total)
            yield lambda images: bar.update(task, completed=images)

    return shown()


def _tell(found: "Comparison", bad: list[tuple[str, str]], out: "Console") -> None:
    from trimtab.bench.names import counted, method_title
    from trimtab.report.terminal_table import Column, tables_that_fit

    for name, error in bad[:SHOWN]:
        out.print(f"passed over: {name}: {error}", soft_wrap=True, markup=False)
    if len(bad) > SHOWN:
        out.print(f"... and {len(bad) - SHOWN:,} more")
    ranked = sorted(found.estimates, key=lambda one: (bool(one.refused), -one.gain))
    tried = [one for one in ranked if not one.refused]
    names = Column("Method", [method_title(one.method) for one in tried])
    columns = [
        Column("Gain over no adaptation\n(points, estimated)", [_gain(one) for one in tried]),
        Column("Says what the\nsource says (%)", [f"{100 * one.agreement:.0f}" for one in tried]),
        Column("Passes per\nimage", [f"{one.passes:.1f}" for one in tried]),
    ]
    title = f"{counted(found.images, 'image')}, none labelled"
    for table in tables_that_fit(names, columns, out.width, title):
        out.print(table)
    for one in ranked[len(tried) :]:
        out.print(f"{method_title(one.method)} was not tried: {one.refused}", markup=False)
    out.print(verdict(found), markup=False)


def _gain(one: "Estimate") -> str:
    from trimtab.predict.compare import DEVIATIONS

    return f"{100 * one.gain:+.1f} ± {100 * DEVIATIONS * one.error:.1f}"


def verdict(found: "Comparison") -> str:
    """What to do, in a sentence or two, and how sure it is."""
    from trimtab.bench.names import method_title
    from trimtab.predict.compare import FEWEST_BATCHES, SOURCE

    if all(one.error == float("inf") for one in found.estimates if not one.refused):
        return f"Too few images to say: it takes {FEWEST_BATCHES} batches at least."
    if found.choice == SOURCE:
        return "No adaptation: no method is clearly better than the model as it is."
    return (
        f"{method_title(found.choice)} looks best. This is estimated from mirrored views, without "
        "labels; docs/compare.md says how often it is right."
    )
