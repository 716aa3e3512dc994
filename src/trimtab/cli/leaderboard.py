"""``trimtab leaderboard``: a page from the submissions of several people."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from trimtab.bench.names import counted

if TYPE_CHECKING:
    from trimtab.bench.result import RunResult
    from trimtab.bench.submission import Submission
    from trimtab.report.board.standings import Board, Refusal

SUITE = "shipped"
TOLERANCE = 0.2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``trimtab leaderboard``."""
    parser.add_argument(
        "folder", type=Path, help="folder of submissions: trimtab bench ... --submission FILE.json"
    )
    parser.add_argument(
        "--suite",
        default=SUITE,
        help="a suite by name or a .toml file: its streams are the board's (default: %(default)s)",
    )
    parser.add_argument(
        "--only", metavar="TEXT", action="append", default=[], help="streams whose spec has this"
    )
    parser.add_argument(
        "--set",
        metavar="FIELD=VALUE",
        action="append",
        default=[],
        help="give a field of every run of the suite another value",
    )
    parser.add_argument(
        "--reference",
        type=Path,
        metavar="FILE.json",
        help="a submission that decides what the streams are; otherwise most of them decide",
    )
    parser.add_argument(
        "--tolerance",
        type=float,
        default=TOLERANCE,
        metavar="POINTS",
        help="how far the source model's error may differ (default: %(default)s)",
    )
    parser.add_argument("--out", type=Path, help="page to write (default: FOLDER/leaderboard.html)")
    parser.add_argument("--title", default="Leaderboard", help="of the page")


def run(args: argparse.Namespace) -> int:
    """Write the page; 1 if something was refused."""
    from trimtab.bench.suite import load
    from trimtab.core.files import write_whole
    from trimtab.core.spec import assignment
    from trimtab.report.board.page import board_page
    from trimtab.report.board.standings import board
    from trimtab.report.board.streams import board_streams

    if not args.tolerance >= 0:
        raise ValueError(f"--tolerance must be 0 or more points, got {args.tolerance}")
    suite = load(args.suite, dict(map(assignment, args.set)))
    specs = [spec for spec in suite.runs if all(text in spec.canonical() for text in args.only)]
    if not specs:
        raise ValueError(f"no run of {args.suite} has {' and '.join(args.only)} in its spec")
    submissions, unread = _read(args.folder)
    reference = _reference(args.reference)
    found = board(submissions, board_streams(specs), args.tolerance, reference, unread)
    path = args.out or args.folder / "leaderboard.html"
    write_whole(path, board_page(found, submissions, args.title).encode())
    _tell(found, path)
    return 1 if found.refusals else 0


def _read(folder: Path) -> "tuple[dict[str, Submission], list[Refusal]]":
    from trimtab.bench.submission import read_submission
    from trimtab.report.board.standings import Refusal

    files = sorted(folder.glob("*.json")) if folder.is_dir() else []
    if not files:
        raise ValueError(
            f"expected submissions (*.json) in {folder}, found none; "
            "make one with: trimtab bench shipped --submission FILE.json"
        )
    read: dict[str, Submission] = {}
    unread = []
    for file in files:
        try:
            read[file.name] = read_submission(file)
        except ValueError as error:
            why = str(error).removeprefix(f"{file} is ")
            unread.append(Refusal(file.name, "all of it", why))
    return read, unread


def _reference(path: Path | None) -> "tuple[RunResult, ...]":
    from trimtab.bench.submission import read_submission

    return () if path is None else read_submission(path).results


def _tell(board: "Board", path: Path) -> None:
    for refusal in board.refusals:
        print(f"refused: {refusal.file}, {refusal.what}: {refusal.why}", file=sys.stderr)
    entries = counted(len(board.entries), "method")
    print(f"wrote {path}: {entries}, {len(board.refusals)} refused", file=sys.stderr)
