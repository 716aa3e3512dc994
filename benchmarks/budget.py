"""What a budget costs in error: a curve of error against passes, for fixed budgets and "auto".

``python benchmarks/budget.py`` runs the same streams of fifteen corruptions (severity 5) under each
budget and appends a line of JSON for each run to ``--out``; runs that are there already are left
out, so that it can be stopped and go on. ``--show`` prints the means. Passes are counted, not
timed: a pass forward is 1, a pass backward 2.
"""

import argparse
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

import trimtab
from trimtab.core.pace import passes
from trimtab.reproduce.experiments.beyond import SETTINGS

NETWORKS = ("fashion_resnet20_bn", "fashion_resnet20_gn", "fashion_vit")
BUDGETS = ("none", "auto", "1", "1.5", "2", "2.5")
"""``none`` learns from every batch, 1 never."""

KEY = ("method", "network", "scenario", "budget", "images", "batch", "seed")


def budget_of(word: str) -> Any:
    """What ``trimtab.adapt`` takes."""
    if word == "none":
        return None
    return word if word == "auto" else float(word)


def measure(run: dict[str, Any]) -> dict[str, Any]:
    """The run with its error in percent, passes a sample and updates."""
    backbone, stream = trimtab.load_demo(
        run["network"],
        run["scenario"],
        images_per_domain=run["images"],
        batch_size=run["batch"],
        seed=run["seed"],
    )
    adapter = trimtab.adapt(
        backbone, run["method"], seed=run["seed"], budget=budget_of(run["budget"])
    )
    wrong = sum(int((adapter(batch.inputs).argmax(1) != batch.labels).sum()) for batch in stream)
    counted = adapter.counters
    return run | {
        "error": 100 * wrong / counted.samples,
        "passes": passes(counted) / counted.samples,
        "updates": counted.updates,
    }


def wanted(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Every run of the grid, seed by seed."""
    grid = itertools.product(
        range(args.seeds), args.methods, args.scenarios, args.networks, args.budgets
    )
    for seed, method, scenario, network, budget in grid:
        values = (method, network, scenario, budget, args.images, args.batch, seed)
        yield dict(zip(KEY, values, strict=True))


def stored(path: Path) -> list[dict[str, Any]]:
    """Runs that were made already."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def show(console: Console, runs: list[dict[str, Any]]) -> None:
    """Means over networks, scenarios and seeds that every budget of a method has."""
    for method, images in sorted({(run["method"], run["images"]) for run in runs}):
        chosen = [run for run in runs if (run["method"], run["images"]) == (method, images)]
        budgets = [b for b in BUDGETS if any(run["budget"] == b for run in chosen)]
        cells = {
            budget: {
                (run["network"], run["scenario"], run["seed"]): run
                for run in chosen
                if run["budget"] == budget
            }
            for budget in budgets
        }
        common = set.intersection(*(set(found) for found in cells.values()))
        title = f"{method}, {images} images per domain, {len(common)} streams"
        table = Table("budget", "error %", "passes a sample", "worst against none", title=title)
        for budget in budgets:
            rows = [cells[budget][key] for key in common]
            worst = max(
                (cells[budget][key]["error"] - cells["none"][key]["error"] for key in common),
                default=float("nan"),
            )
            error, cost = fmean(r["error"] for r in rows), fmean(r["passes"] for r in rows)
            table.add_row(budget, f"{error:.2f}", f"{cost:.2f}", f"{worst:+.2f}")
        console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS))
    parser.add_argument("--methods", nargs="+", default=["roid", "trimtab"])
    parser.add_argument("--scenarios", nargs="+", default=list(SETTINGS))
    parser.add_argument("--budgets", nargs="+", choices=BUDGETS, default=list(BUDGETS))
    parser.add_argument("--images", type=int, default=1000, help="of each corruption")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/budget/runs.jsonl"))
    parser.add_argument("--show", action="store_true", help="print what is stored, run nothing")
    args = parser.parse_args()
    torch.set_num_threads(1)
    console = Console()
    if not args.show:
        known = {tuple(run[name] for name in KEY) for run in stored(args.out)}
        for run in wanted(args):
            if tuple(run.values()) not in known:
                found = measure(run)
                console.print(found)
                with args.out.open("a") as file:
                    file.write(json.dumps(found) + "\n")
    show(console, stored(args.out))


if __name__ == "__main__":
    main()
