"""The benchmark of harm as one small file and as the tables of docs/guard.md.

``python benchmarks/harm_table.py STORE --out benchmarks/results/harm.json`` reads the studies that
``trimtab reproduce harm --store STORE`` has kept, however many there are.
"""

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from trimtab.core.files import write_whole
from trimtab.reproduce.experiments.harm import (
    COST_LIMIT,
    GAIN_LIMIT,
    HELPFUL,
    STRETCH_LIMIT,
    WHOLE_LIMIT,
)
from trimtab.reproduce.harm_scores import HarmScores

Row = dict[str, Any]


def rows(store: Path) -> list[Row]:
    """What each stream has shown, errors in % and in points above the source model."""
    found = [json.loads(path.read_text()) for path in sorted((store / "studies").glob("*.json"))]
    made = [_row(study["settings"], study["record"]) for study in found if study["kind"] == "harm"]
    return sorted(made, key=lambda row: [row[key] for key in ("model", "stream", "method", "seed")])


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
        **{key: settings[key] for key in ("model", "stream", "method", "seed")},
        "scored": scored,
        **{name: None if n is None else round(n, 2) for name, n in numbers.items()},
        "alarms": scores.alarms,
        "source_predicts": "".join(map(str, record["source_predicts"])),
    }


def table(found: list[Row], by: str) -> list[str]:
    """The worst of everything, in Markdown, without and with the guard."""
    columns = ("whole", "worst_1000", "clean_after")
    heads = [f"{words}, {way}" for words in columns for way in ("without", "with")]
    lines = [f"| {by} | streams | {' | '.join(heads)} | alarms | cost |"]
    lines.append("|---|" + "---:|" * (len(heads) + 3))
    for name in dict.fromkeys(row[by] for row in found):
        chosen = [row for row in found if row[by] == name]
        cells = [
            _worst(row[f"{column}_{way}"] for row in chosen)
            for column in columns
            for way in ("without", "with")
        ]
        costs = sorted(row["cost"] for row in chosen)
        alarms = sum(row["alarms"] for row in chosen)
        cells += [str(alarms), f"{costs[len(costs) // 2]:.2f}"]
        lines.append(f"| {name} | {len(chosen)} | {' | '.join(cells)} |")
    return lines


def _worst(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{max(known):+.1f}" if known else "-"


def violations(found: list[Row]) -> list[str]:
    """Every stream that breaks a promise, with its numbers."""
    limits = (
        ("over a whole stream", "whole", WHOLE_LIMIT),
        ("over 1,000 samples", "worst_1000", STRETCH_LIMIT),
    )
    lines = []
    for words, key, limit in limits:
        counts = [
            [row for row in found if (row[f"{key}_{way}"] or 0) > limit]
            for way in ("without", "with")
        ]
        listed = "; ".join(f"{_name(row)} {row[f'{key}_with']:+.1f}" for row in counts[1])
        lines.append(
            f"More than {limit:g} {words}: {len(counts[0])} of {len(found)} without, "
            f"{len(counts[1])} with ({listed or 'none'})."
        )
    helpful = [row for row in found if row["stream"] in HELPFUL and row["gain_lost"] is not None]
    gone = [row for row in helpful if row["gain_lost"] > GAIN_LIMIT]
    listed = "; ".join(f"{_name(row)} {row['gain_lost']:+.1f}" for row in gone)
    lines.append(
        f"More than {GAIN_LIMIT:g} of a gain lost: {len(gone)} of {len(helpful)} "
        f"({listed or 'none'})."
    )
    calm = [row for row in found if "1" not in row["source_predicts"]]
    dear = [row for row in calm if row["cost"] > COST_LIMIT]
    lines.append(
        f"Passes above {COST_LIMIT:g} where it never fell back: {len(dear)} of {len(calm)}."
    )
    return lines


def _name(row: Row) -> str:
    return f"{row['method']}, `{row['model']}`, {row['stream']}, seed {row['seed']}:"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    found = rows(args.store)
    lines = ",\n".join(json.dumps(row) for row in found)
    write_whole(args.out, f"[\n{lines}\n]\n".encode())
    for by in ("method", "stream", "model"):
        print("\n".join(table(found, by)) + "\n")
    print("\n".join(violations(found)))


if __name__ == "__main__":
    main()
