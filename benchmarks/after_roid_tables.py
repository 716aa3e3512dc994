"""The tables of docs/after-roid.md and docs/compare.md from what benchmarks/after_roid.py measured.

``python benchmarks/after_roid_tables.py table.jsonl long.jsonl compare.jsonl``; all are optional.
"""

import json
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from after_roid import LONG_METHODS, METHODS, NETWORKS, SETTINGS
from trimtab.bench.names import method_title

Row = dict[str, Any]
SHORT = {
    "continual": "continual",
    "correlated": "correlated",
    "mixed": "mixed",
    "mixed_correlated(delta=0.1)": "mixed, 0.1",
    "mixed_correlated(delta=0.01)": "mixed, 0.01",
}
NETWORK_TITLES = {"resnet20_gn": "ResNet-20 GN", "vit": "ViT", "resnet20_bn": "ResNet-20 BN"}


def main() -> None:
    rows = [
        json.loads(line) for path in sys.argv[1:] for line in Path(path).read_text().splitlines()
    ]
    kinds: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        long = row["setting"].startswith(("recurring", "walk"))
        kinds["compare" if "choice" in row else "long" if long else "table"].append(row)
    for data in sorted({row["data"] for row in rows}):
        for kind, make in (("table", table), ("long", long_table), ("compare", compare_table)):
            chosen = [row for row in kinds[kind] if row["data"] == data]
            if chosen:
                print(f"\n<!-- {kind}, {data} -->\n")
                print("\n".join(make(chosen)))


def table(rows: list[Row]) -> Iterator[str]:
    """Error / ECE by network, method and setting; worst setting, cost and memory of the stream."""
    found = {(r["network"], r["method"], r["setting"]): r for r in rows}
    heads = [*SHORT.values(), "worst", "passes", "ms", "kB"]
    for network in NETWORKS:
        yield f"\n| {NETWORK_TITLES[network]} | " + " | ".join(heads) + " |"
        yield "|---" * (len(heads) + 1) + "|"
        for method in METHODS:
            known = [found[key] for s in SETTINGS if (key := (network, method, s)) in found]
            if not known:
                continue
            cells = [
                f"{found[key]['error']:.1f} / {found[key]['ece']:.0f}"
                if (key := (network, method, setting)) in found
                else "-"
                for setting in SETTINGS
            ]
            passes = statistics.mean(r["forwards"] + 2 * r["backwards"] for r in known)
            cells += [
                f"{max(r['error'] for r in known):.1f}",
                f"{passes:.1f}",
                f"{statistics.median(r['ms'] for r in known):.1f}",
                f"{max(r['kilobytes'] for r in known):.0f}",
            ]
            yield f"| {method_title(method)} | " + " | ".join(cells) + " |"


def long_table(rows: list[Row]) -> Iterator[str]:
    """Error over the whole stream and over its last twentieth, with and without the guard."""
    found = {(r["network"], r["method"], bool(r.get("guard")), _kind(r)): r for r in rows}
    kinds = sorted({_kind(r) for r in rows})
    yield "| network | method | " + " | ".join(f"{kind} | guarded" for kind in kinds) + " |"
    yield "|---|---" + "|---|---" * len(kinds) + "|"
    for network in NETWORKS:
        for method in LONG_METHODS:
            cells = []
            for kind in kinds:
                for guard in (False, True):
                    row = found.get((network, method, guard, kind))
                    cells.append(f"{row['error']:.1f} ({row['last_error']:.1f})" if row else "-")
            if any(cell != "-" for cell in cells):
                name = f"{NETWORK_TITLES[network]} | {method_title(method)}"
                yield f"| {name} | " + " | ".join(cells) + " |"


def _difficulty(row: Row) -> str:
    return next((d for d in ("easy", "medium", "hard") if f"'{d}'" in row["setting"]), "")


def _kind(row: Row) -> str:
    return f"{row['setting'].split('(')[0]} {_difficulty(row)}".strip()


def _stream(row: Row) -> str:
    """A single domain in words."""
    domain = row["setting"].split("'")[1].replace("_", " ")
    return f"{domain}, classes in runs" if "delta" in row["setting"] else domain


def compare_table(rows: list[Row]) -> Iterator[str]:
    """What was chosen, what would have been best, and what the choice cost, in points."""
    yield "| network | stream | chosen | true best | regret | always ROID | never adapting |"
    yield "|---|---|---|---|---|---|---|"
    regrets = defaultdict(list)
    for row in rows:
        errors = row["errors"]
        best = min(errors, key=errors.__getitem__)
        costs = [errors[name] - errors[best] for name in (row["choice"], "roid", "source")]
        for name, cost in zip(("chosen", "roid", "source"), costs, strict=True):
            regrets[name].append(cost)
        cells = [method_title(row["choice"]), f"{method_title(best)} ({errors[best]:.1f} %)"]
        cells += [f"{cost:.1f}" for cost in costs]
        yield f"| {NETWORK_TITLES[row['network']]} | {_stream(row)} | " + " | ".join(cells) + " |"
    means = {name: statistics.mean(values) for name, values in regrets.items()}
    within = sum(value <= 1 for value in regrets["chosen"])
    others = f"always ROID {means['roid']:.1f}, never adapting {means['source']:.1f}"
    yield f"\nMean regret {means['chosen']:.1f} points ({others}); at most one point from the"
    yield f"best in {within} of {len(rows)} streams; largest regret {max(regrets['chosen']):.1f}."


if __name__ == "__main__":
    main()
