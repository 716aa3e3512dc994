"""The preset beside ROID, LAME and the source model as small files, for docs/make_beyond.py.

``python benchmarks/beyond_results.py STORE ... --out benchmarks/results/beyond.json`` reads the
runs that ``trimtab bench`` and ``trimtab reproduce beyond`` have kept in stores, and puts them in
the place of those that the file had of the same network, setting, method and seed.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from trimtab.bench.store import RunStore
from trimtab.core.files import write_whole

KEY = ("data", "model", "scenario", "method", "images_per_domain", "seed")

Row = dict[str, Any]


def rows_of(store: Path) -> list[Row]:
    """One row a finished run, errors in %."""
    return [
        {
            **{key: getattr(result.spec, key) for key in KEY},
            "error": round(100 * result.scores.error, 3),
            "ece": round(100 * result.scores.ece, 3),
            "cost": round(result.cost.multiple, 3),
        }
        for result in RunStore(store)
        if result.scores is not None and result.cost is not None
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stores", nargs="+", type=Path, help="folders that trimtab bench wrote")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    before = json.loads(args.out.read_text()) if args.out.exists() else []
    new = [row for store in args.stores for row in rows_of(store)]
    found = {tuple(row[key] for key in KEY): row for row in [*before, *new]}
    lines = ",\n".join(json.dumps(row) for row in sorted(found.values(), key=json.dumps))
    write_whole(args.out, f"[\n{lines}\n]\n".encode())
    print(f"{len(found)} runs in {args.out}, {len(found) - len(before)} of them new")


if __name__ == "__main__":
    main()
