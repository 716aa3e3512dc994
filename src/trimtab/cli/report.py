"""``trimtab report``: a store of results as a page or as tables."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trimtab.bench.example_files import Examples
    from trimtab.bench.result import RunResult
    from trimtab.report.comparison import Comparison

SUFFIXES = {".html": "html", ".md": "md", ".csv": "csv", ".tex": "latex", ".json": "json"}
FORMATS = tuple(SUFFIXES.values())


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``trimtab report``."""
    parser.add_argument("store", type=Path, help="folder or submission that trimtab bench wrote")
    parser.add_argument(
        "--out",
        type=Path,
        help="file to write; without it, STORE/report.html for html, the terminal for the rest",
    )
    parser.add_argument("--title", help="of the page (default: the store's name)")
    parser.add_argument(
        "--format",
        choices=FORMATS,
        help="html unless the name of the file says otherwise (.md .csv .tex .json)",
    )
    parser.add_argument(
        "--images",
        action="store_true",
        help="make example images of each domain anew: needs torch and the data at hand "
        "(trimtab bench keeps some in its store)",
    )
    parser.add_argument(
        "--average",
        choices=("samples", "domains"),
        default="samples",
        help="whether every sample or every domain counts once (csv and json hold both)",
    )
    parser.add_argument(
        "--against",
        type=Path,
        metavar="STORE2",
        help="an earlier store to compare with; csv and latex then hold the changes",
    )
    parser.add_argument(
        "--fail-on-regression",
        type=float,
        metavar="PERCENT",
        help="exit with 2 if an error is more than PERCENT points above STORE2's",
    )


def run(args: argparse.Namespace) -> int:
    """Write the report; the exit status."""
    if args.fail_on_regression is not None and args.against is None:
        raise ValueError("--fail-on-regression needs a store to compare with: --against STORE2")
    results = _results(args.store)
    comparison = None if args.against is None else _compare(args.against, results)
    _write(args, _text(args, results, comparison))
    if comparison is None:
        return 0
    return _verdict(comparison, args.fail_on_regression)


def _results(folder: Path) -> "list[RunResult]":
    from trimtab.bench.submission import read_results

    results = read_results(folder)
    if not results:
        raise ValueError(f"expected results in {folder / 'runs'}, found none; see trimtab bench")
    return results


def _compare(folder: Path, results: "list[RunResult]") -> "Comparison":
    from trimtab.report.comparison import compare

    return compare(_results(folder), results)


def _format(args: argparse.Namespace) -> str:
    if args.format is not None:
        return str(args.format)
    if args.out is None:
        return "html"
    if args.out.suffix not in SUFFIXES:
        known = " ".join(SUFFIXES)
        raise ValueError(f"--out {args.out} must end in one of {known}, or give --format")
    return SUFFIXES[args.out.suffix]


def _text(
    args: argparse.Namespace, results: "list[RunResult]", comparison: "Comparison | None"
) -> str:
    from trimtab.report import formats, page
    from trimtab.report.metrics import AVERAGES
    from trimtab.report.table import tables

    average = AVERAGES[args.average]
    kind = _format(args)
    if kind == "html":
        against = "" if args.against is None else _name(args.against)
        title = args.title or _name(args.store)
        return page.page(results, title, average, comparison, against, _images(args, results))
    return formats.write(kind, tables(results), average, comparison)


def _images(args: argparse.Namespace, results: "list[RunResult]") -> "Examples":
    """Examples of the domains: those in the store, or newly made ones if that is asked for."""
    from trimtab.bench.example_files import ExampleFiles

    if not args.images:
        return ExampleFiles(args.store).read()
    from trimtab.bench.examples import examples

    return examples(result.spec for result in results)


def _write(args: argparse.Namespace, text: str) -> None:
    from trimtab.core.files import write_whole

    path = args.out
    if path is None and _format(args) == "html":
        folder = args.store.parent if args.store.is_file() else args.store
        path = folder / "report.html"
    if path is None:
        sys.stdout.write(text)
        return
    write_whole(path, text.encode())
    print(f"wrote {path}", file=sys.stderr)


def _verdict(comparison: "Comparison", allowed: float | None) -> int:
    print(
        f"{len(comparison.changes)} cells compared, {len(comparison.worse)} worse than before",
        file=sys.stderr,
    )
    if allowed is None:
        return 0
    beyond = [change for change in comparison.changes if change.exceeds(allowed)]
    for change in beyond:
        setting = change.setting
        fell = "now fails" if change.newly_failed else f"{change.difference:+.1f} points"
        print(
            f"regression: {change.row.label} on {setting.data}, {setting.model}, "
            f"{setting.scenario}: {fell}",
            file=sys.stderr,
        )
    return 2 if beyond else 0


def _name(folder: Path) -> str:
    place = folder.resolve()
    return place.stem if place.is_file() else place.name
