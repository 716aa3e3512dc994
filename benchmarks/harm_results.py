"""The benchmark of harm as one small file, of which docs/make_harm.py makes a page.

``python benchmarks/harm_results.py STORE --out benchmarks/results/harm.json`` reads the studies
that ``trimtab reproduce harm --store STORE`` has kept, however many there are, and puts them beside
those of other networks, streams, methods and seeds that the file has already.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from trimtab.core.files import write_whole
from trimtab.reproduce.harm_scores import HarmScores

KEY = ("model", "stream", "method", "seed")

Row = dict[str, Any]


def rows(store: Path) -> list[Row]:
    """What each stream has shown, errors in % and in points above the source model."""
    found = [json.loads(path.read_text()) for path in (store / "studies").glob("*.json")]
    return [_row(study["settings"], study["record"]) for study in found if study["kind"] == "harm"]


def _row(settings: Row, record: Row) -> Row:
    scores, scored = HarmScores(record), sum(record["scored"])
    error = 100 * sum(record["source"]) / scored if scored else None
    numbers = {
        "source_error": error,
        "whole_without": scores.whole("plain"),
        "whole_with": scores.whole("guarded"),
        "worst_1000_without": scores.stretch("plain"),
        "worst_1000_with": scores.stretch("guarded"),
        "clean_after_without": scores.afterwards("plain"),
        "clean_after_with": scores.afterwards("guarded"),
        "recovery_with": scores.recovery("guarded"),
        "gain_lost": scores.gain_lost,
        "cost": scores.cost,
    }
    return {
        **{key: settings[key] for key in KEY},
        "scored": scored,
        **{name: None if n is None else round(n, 2) for name, n in numbers.items()},
        "alarms": scores.alarms,
        "source_predicts": "".join(map(str, record["source_predicts"])),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    before = json.loads(args.out.read_text()) if args.out.exists() else []
    found = {tuple(row[key] for key in KEY): row for row in [*before, *rows(args.store)]}
    lines = ",\n".join(json.dumps(found[key]) for key in sorted(found))
    write_whole(args.out, f"[\n{lines}\n]\n".encode())
    print(f"{len(found)} streams in {args.out}, {len(found) - len(before)} of them new")


if __name__ == "__main__":
    main()
