"""``trimtab load-test URL``: a server under load, in numbers and as a page."""

import argparse
import asyncio
import json
from pathlib import Path
from urllib.parse import urlsplit

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("url", help="of the server, e.g. http://127.0.0.1:8080")
    parser.add_argument("--streams", type=int, default=64, help="at a time (default: %(default)s)")
    parser.add_argument("--life", type=int, default=50, help="requests a stream, on average")
    parser.add_argument("--samples", type=int, default=1, help="in a request")
    parser.add_argument("--requests", type=int, default=2000, help="most in all")
    parser.add_argument("--seconds", type=float, default=60.0, help="most in all")
    parser.add_argument("--hostile", type=float, default=0.02, help="share of hostile requests")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--token", help="bearer token")
    parser.add_argument("--page", default="load-test.html", help="default: %(default)s")
    parser.add_argument("--json", help="write the numbers to this file, too")
    parser.add_argument(
        "--allow-remote", action="store_true", help="the server is yours and not on this machine"
    )


def run(args: argparse.Namespace) -> int:
    """Send, print and write; 1 where an honest request failed or a hostile one did not."""
    import httpx

    from trimtab.server.client import Client, ServerError
    from trimtab.server.load.drive import drive
    from trimtab.server.load.summary import is_well, lines, page, summary
    from trimtab.server.load.traffic import Traffic, described

    if urlsplit(args.url).hostname not in LOOPBACK and not args.allow_remote:
        raise ValueError(
            f"{args.url} is not on this machine; load tests of servers that are yours alone: "
            "--allow-remote"
        )
    traffic = Traffic(args.streams, args.life, args.samples, args.hostile, args.seed)
    try:
        with Client(args.url, token=args.token) as client:
            model, shape = client.model, client.sample_shape()
    except (ConnectionError, httpx.HTTPError, ServerError) as error:
        raise ValueError(
            f"a server of Trimtab was expected at {args.url}, got {error}; start one with: "
            "trimtab serve"
        ) from error
    outcome = asyncio.run(
        drive(
            args.url,
            model,
            shape,
            traffic,
            most_requests=args.requests,
            most_seconds=args.seconds,
            token=args.token,
        )
    )
    found = summary(outcome)
    print("\n".join(lines(found)))
    Path(args.page).write_text(page(found, outcome, f"{model}: {described(traffic)}"))
    if args.json:
        Path(args.json).write_text(json.dumps(found, indent=2) + "\n")
    return 0 if is_well(found) else 1
