"""The tables of docs/beyond-roid.md from stores of runs: error / calibration error in %.

``--keep FILE.json`` also keeps the numbers of every run in one small file, and ``--from`` that file
makes the tables again.
"""

import argparse
import json
import statistics
from collections import defaultdict
from pathlib import Path
from typing import Any

from trimtab.bench.store import RunStore
from trimtab.core.files import write_whole

SETTINGS = {
    "continual": "continual",
    "mixed": "mixed",
    "correlated": "correlated",
    "mixed_correlated(delta=0.1)": "mixed, correlated 0.1",
    "mixed_correlated(delta=0.01)": "0.01",
}
METHODS = ("source", "roid", "lame", "trimtab")

Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stores", nargs="*", type=Path, help="folders that trimtab bench wrote")
    parser.add_argument("--from", dest="kept", type=Path, help="a file that --keep wrote")
    parser.add_argument("--keep", type=Path, help="where to keep the numbers")
    args = parser.parse_args()
    rows = [row for store in args.stores for row in rows_of(store)]
    rows += json.loads(args.kept.read_text()) if args.kept else []
    if args.keep:
        lines = ",\n".join(json.dumps(row) for row in sorted(rows, key=json.dumps))
        write_whole(args.keep, f"[\n{lines}\n]\n".encode())
    for images in sorted({row["images_per_domain"] for row in rows}):
        for data in sorted({row["data"] for row in rows}):
            chosen = [r for r in rows if (r["images_per_domain"], r["data"]) == (images, data)]
            if chosen:
                print(f"\n{data}, {images} images per domain\n")
                print("\n".join(table(chosen)))


def rows_of(store: Path) -> list[Row]:
    """One row a finished run."""
    return [
        {
            **{
                key: getattr(result.spec, key)
                for key in ("data", "model", "scenario", "method", "images_per_domain", "seed")
            },
            "error": round(100 * result.scores.error, 3),
            "ece": round(100 * result.scores.ece, 3),
            "cost": round(result.cost.multiple, 3),
        }
        for result in RunStore(store)
        if result.scores is not None and result.cost is not None
    ]


def table(rows: list[Row]) -> list[str]:
    """A Markdown table: error, its standard error over seeds, calibration error."""
    found: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in rows:
        found[row["model"], row["method"], row["scenario"]].append(row)
    lines = ["| network | method | " + " | ".join(SETTINGS.values()) + " |"]
    lines.append("|---|---|" + "---:|" * len(SETTINGS))
    for model in sorted({row["model"] for row in rows}):
        for method in METHODS:
            runs = [found.get((model, method, setting), []) for setting in SETTINGS]
            if method == "source":  # it does not learn: the order of samples is no matter
                runs = [runs[0]] * len(runs)
            if any(runs):
                lines.append(f"| `{model}` | {method} | " + " | ".join(map(cell, runs)) + " |")
    return lines


def cell(runs: list[Row]) -> str:
    """Mean error ± its standard error / mean calibration error."""
    if not runs:
        return "–"
    errors = [run["error"] for run in runs]
    spread = statistics.stdev(errors) / len(errors) ** 0.5 if len(errors) > 1 else None
    ece = statistics.mean(run["ece"] for run in runs)
    around = "" if spread is None else f" ± {spread:.1f}"
    return f"{statistics.mean(errors):.1f}{around} / {ece:.0f}"


if __name__ == "__main__":
    main()
