"""The options of ``trimtab serve``: on the command line, and as plain words for replicas."""

import argparse
from dataclasses import MISSING, fields
from typing import Any

from trimtab.server.limits import Limits

Options = dict[str, Any]
"""What ``options_of`` returns: strings, numbers, lists and None."""

WINDOW = 64
"""Samples an update: requests of a server are small."""

HELP = {
    "body_bytes": "most bytes of a request's body",
    "body_seconds": "most seconds that a body may take to arrive",
    "request_samples": "most samples in one request",
    "queued_samples": "most samples that wait before requests are refused (429)",
    "queued_requests_per_stream": "most requests of one stream that wait",
    "streams": "most streams that are known, in memory and in the store",
    "resident": "most streams in memory",
    "samples_per_second": "most samples per second of one stream (default: any)",
    "idle_seconds": "a stream leaves the memory after so long without a request",
    "forget_seconds": "a stream is deleted after so long without a request (default: never)",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """All options that say what is served and how."""
    served = parser.add_argument_group("what is served")
    served.add_argument("--model", default="fashion_resnet20_bn", help="default: %(default)s")
    served.add_argument("--weights", help="a local file, or 'random'")
    served.add_argument("--name", help="the model's name in URLs (default: the model's)")
    served.add_argument("--method", default="trimtab", help="default: %(default)s")
    served.add_argument(
        "--option", metavar="NAME=VALUE", action="append", default=[], help="of the method"
    )
    served.add_argument(
        "--window", type=int, default=WINDOW, help="samples an update; 0: each request learns"
    )
    served.add_argument(
        "--guard",
        action=argparse.BooleanOptionalAction,
        help="watch every stream's health, fall back where it harms (default: the method's own)",
    )
    served.add_argument("--seed", type=int, default=0)
    served.add_argument("--input-shape", help="of a sample, e.g. 3,32,32 (default: the table's)")
    served.add_argument(
        "--anonymous",
        choices=("source", "stream"),
        default="source",
        help="who answers requests without a sequence id: the source model or one shared stream",
    )
    _add_durability(parser)
    _add_limits(parser)


def _add_durability(parser: argparse.ArgumentParser) -> None:
    kept = parser.add_argument_group("what survives")
    kept.add_argument("--store", help="folder of checkpoints (default: states live in memory only)")
    kept.add_argument("--save-samples", type=int, default=64, help="default: %(default)s")
    kept.add_argument("--save-seconds", type=float, default=5.0, help="default: %(default)s")
    kept.add_argument("--journal", help="file that notes who stepped with whom, for exact replays")


def _add_limits(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("limits")
    group.add_argument("--max-batch", type=int, default=64, help="samples in one fleet step")
    group.add_argument(
        "--max-delay-ms", type=float, default=5.0, help="how long a request waits for others"
    )
    group.add_argument("--threads", type=int, default=1, help="of the computing (default: 1)")
    group.add_argument("--tokens", help="file of bearer tokens, a token and a prefix a line")
    for field in fields(Limits):
        kind = float if "seconds" in field.name or "per_second" in field.name else int
        default = None if field.default is MISSING else field.default
        shown = "" if default is None else " (default: %(default)s)"
        group.add_argument(
            "--" + field.name.replace("_", "-"),
            type=kind,
            default=default,
            help=HELP[field.name] + shown,
        )


def options_of(args: argparse.Namespace) -> Options:
    """The options as plain words, which may travel to other processes."""
    parser = argparse.ArgumentParser()
    add_options(parser)
    return {name: getattr(args, name) for name in vars(parser.parse_args([]))}


def default_options(**changes: Any) -> Options:
    """What ``trimtab serve`` alone means, with some of it changed."""
    parser = argparse.ArgumentParser()
    add_options(parser)
    known = vars(parser.parse_args([]))
    strange = changes.keys() - known.keys()
    if strange:
        raise ValueError(f"there is no option {', '.join(sorted(strange))}")
    return known | changes
