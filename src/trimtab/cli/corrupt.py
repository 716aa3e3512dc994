"""``trimtab corrupt IN OUT``: corrupted copies of images on disk."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from trimtab.core.ranges import SEVERITIES

if TYPE_CHECKING:
    from trimtab.streams.copies import Copies
    from trimtab.streams.corruptions import Corruptor


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command understands."""
    parser.add_argument("input", type=Path, help="a folder of images, or a .npy file (N,H,W,3)")
    parser.add_argument("output", type=Path, help="the folder for the copies; the PNG of --preview")
    parser.add_argument("--corruptions", nargs="+", metavar="NAME", help="default: the fifteen")
    parser.add_argument(
        "--severities", nargs="+", type=int, default=SEVERITIES, choices=SEVERITIES, metavar="S"
    )
    parser.add_argument("--labels", type=Path, help=".npy file with a class per image of the array")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--table", choices=("32", "224"), help="default: by image size")
    parser.add_argument("--frost", type=Path, help="folder of frost photographs to use")
    parser.add_argument("--force", action="store_true", help="overwrite what is there")
    parser.add_argument(
        "--preview", action="store_true", help="one PNG: every corruption of the first image"
    )


def run(args: argparse.Namespace) -> None:
    """Write the copies or the preview."""
    from trimtab.streams.copies import Copies
    from trimtab.streams.corruptions import BENCHMARK, Corruptor

    if not args.input.exists():
        raise FileNotFoundError(f"expected a folder of images or a .npy file at {args.input}")
    corruptor = Corruptor(args.table, args.frost)
    if args.preview:
        _preview(args, corruptor)
        return
    names = tuple(args.corruptions or BENCHMARK)
    copies = Copies(names, tuple(sorted(set(args.severities))), args.seed, corruptor)
    _write(args, copies)


def _write(args: argparse.Namespace, copies: "Copies") -> None:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from trimtab.streams.copies import copy_array, copy_folder, copy_labels

    if args.labels is not None and args.input.is_dir():
        raise ValueError("--labels goes with an array file; a folder's classes are its subfolders")
    total = _count(args.input) * len(copies.names) * len(copies.severities)
    columns = (TextColumn("corrupting"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns) as bar:
        task = bar.add_task("images", total=total)

        def progress(count: int) -> None:
            bar.advance(task, count)

        copy = copy_folder if args.input.is_dir() else copy_array
        copy(copies, args.input, args.output, force=args.force, progress=progress)
    if args.labels is not None:
        copy_labels(copies, args.labels, args.output, force=args.force)


def _count(source: Path) -> int:
    from trimtab.streams.array_files import read_array
    from trimtab.streams.image_files import image_paths

    if source.is_dir():
        return len(image_paths(source))
    return len(read_array(source, "uint8 images of shape (images, height, width, 3)"))


def _preview(args: argparse.Namespace, corruptor: "Corruptor") -> None:
    import numpy as np

    from trimtab.streams.array_files import read_array
    from trimtab.streams.contact_sheet import contact_sheet
    from trimtab.streams.corruptions import CORRUPTIONS
    from trimtab.streams.image_files import image_paths, read_image

    if args.output.exists() and not args.force:
        raise FileExistsError(f"{args.output} exists; give --force to overwrite it")
    if args.input.is_dir():
        files = image_paths(args.input)
        if not files:
            raise FileNotFoundError(f"expected images in {args.input}, found none")
        image = read_image(files[0])
    elif args.input.suffix == ".npy":
        image = np.array(read_array(args.input, "uint8 images of shape (N, H, W, 3)")[0])
    else:
        image = read_image(args.input)
    names = tuple(args.corruptions or CORRUPTIONS)
    contact_sheet(image, args.output, names=names, seed=args.seed, corruptor=corruptor)
