"""The entry point: finds the subcommand's file by its name and imports nothing heavy itself.

A subcommand ``NAME`` is the module ``trimtab.cli.NAME``, or the one that ``HOMES`` names, with
``add_arguments(parser)`` and ``run(args) -> int | None``, imported only when it is asked for. Its
modules import torch inside ``run``, so that help answers at once.

The exit status is 0 where all went well, 1 where it was done and something of it failed, 2 where
what was asked for is wrong: one line then says what, and nothing was done. 130 is Ctrl-C.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from trimtab.freed_memory import keep_freed_memory
from trimtab.version import __version__

COMMANDS: dict[str, str] = {
    "bench": "Run a suite: resumable, in processes or on a Ray cluster.",
    "compare": "Which method looks best on your own unlabelled images.",
    "corrupt": "Write corrupted copies of a folder of images or of an array file.",
    "data": "Make a dataset available from what you have.",
    "demo": "Compare seven methods in four settings on images that come along.",
    "leaderboard": "Rank the submissions of several people, and refuse what does not compare.",
    "list": "Show the names of everything that has one.",
    "models": "Show the table of networks, or check one.",
    "predict": "Predict your images into a table, adapting on the way; resumable.",
    "reproduce": "Do an experiment of the ROID paper, and check what it claims.",
    "report": "Make a page or tables of a store of results.",
    "run": "Do one run of a method on a stream.",
    "serve": "Serve an adapting model to any Triton or KServe client.",
    "load-test": "Put a running server under seeded, bounded load.",
}
"""Subcommands by name, each with the line that ``trimtab --help`` shows for it."""

HOMES = {"serve": "trimtab.server.command", "load-test": "trimtab.server.load.command"}
"""Modules of subcommands that are not part of this package, which does not import them."""


LONGEST_LINE = 1000
"""Most characters of an error's line; what is longer loses its middle."""


class OneLineParser(argparse.ArgumentParser):
    """Says what is wrong in one line, and where to read more."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{_line(message)}; see {self.prog} --help\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand; the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    command = _asked_for(arguments)
    parser = _parser(command)
    args, unknown = parser.parse_known_args(arguments)
    if unknown:
        parser.prog = " ".join(filter(None, ("trimtab", command)))  # whose help to read
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    if command is None:
        parser.print_help()
        return 0
    try:
        _find_modules_here()
        keep_freed_memory()
        return args.run(args) or 0
    except KeyboardInterrupt:
        print("trimtab: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, OSError, ImportError) as error:
        if args.debug:
            raise
        print(_line(str(error)), file=sys.stderr)
        return 2


def _line(message: str) -> str:
    """An error as one line of bounded length."""
    text = " ".join(message.split())
    if len(text) > LONGEST_LINE:
        text = f"{text[: LONGEST_LINE // 2]} … {text[-LONGEST_LINE // 2 :]}"
    return f"trimtab: {text}"


def _find_modules_here() -> None:
    """Let ``module:callable`` name a file in the current folder; worker processes get the path."""
    here = os.getcwd()  # noqa: PTH109
    if here not in sys.path:
        sys.path.append(here)


def _asked_for(arguments: Sequence[str]) -> str | None:
    return next((word for word in arguments if word in COMMANDS), None)


def _parser(command: str | None) -> argparse.ArgumentParser:
    """A parser that knows every subcommand's name, and the arguments of the one asked for."""
    parser = OneLineParser(
        prog="trimtab", description="Universal test-time adaptation for PyTorch."
    )
    parser.add_argument("--version", action="version", version=f"trimtab {__version__}")
    parser.add_argument("--debug", action="store_true", help="show tracebacks of errors")
    subparsers = parser.add_subparsers(metavar="COMMAND")
    for name, summary in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=summary, description=summary)
        if name == command:
            module = importlib.import_module(HOMES.get(name, f"trimtab.cli.{name}"))
            module.add_arguments(subparser)
            subparser.set_defaults(run=module.run)
    return parser
