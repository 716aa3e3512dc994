"""What a budget costs in error: ROID on corrupted embedded images, learning less and less often.

``python benchmarks/budget.py`` runs the same stream of fifteen corruptions (severity 5, one after
the other) under each setting, and prints error and passes a sample. Passes are counted, not
timed: a pass forward is 1, a pass backward 2.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import track
from rich.table import Table

import trimtab
from trimtab.core.pace import passes

SETTINGS: dict[str, dict[str, Any] | None] = {
    "source, no adaptation": None,
    "every batch": {},
    "adapt_every=2": {"adapt_every": 2},
    "adapt_every=4": {"adapt_every": 4},
    "adapt_every=8": {"adapt_every": 8},
    "budget=2.5": {"budget": 2.5},
    "budget=2": {"budget": 2.0},
    "budget=1.5": {"budget": 1.5},
    "budget=1.2": {"budget": 1.2},
    "budget=1, never": {"budget": 1.0},
}


def measure(model: str, options: dict[str, Any] | None, args: argparse.Namespace) -> dict[str, Any]:
    """Error in percent over the whole stream, passes a sample and updates."""
    errors, samples = 0, 0
    spent, updates = 0, 0
    for seed in range(args.seeds):
        backbone, stream = trimtab.load_demo(
            model, images_per_domain=args.images, batch_size=args.batch, seed=seed
        )
        method = "source" if options is None else args.method
        adapter = trimtab.adapt(backbone, method, seed=seed, **(options or {}))
        for batch in stream:
            errors += int((adapter(batch.inputs).argmax(1) != batch.labels).sum())
        samples += adapter.counters.samples
        spent += passes(adapter.counters)
        updates += adapter.counters.updates
    return {"error": 100 * errors / samples, "passes": spent / samples, "updates": updates}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=["fashion_resnet20_bn", "fashion_vit"])
    parser.add_argument("--method", default="roid")
    parser.add_argument("--images", type=int, default=1000, help="of each corruption")
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--json", type=Path, help="where to write the numbers")
    args = parser.parse_args()
    torch.set_num_threads(1)
    console, results = Console(), {}
    for model in args.models:
        table = Table("setting", "error %", "passes a sample", "updates", title=model)
        results[model] = {}
        for name, options in track(SETTINGS.items(), model, console=console):
            found = results[model][name] = measure(model, options, args)
            cells = f"{found['error']:.2f}", f"{found['passes']:.2f}", str(found["updates"])
            table.add_row(name, *cells)
        console.print(table)
    if args.json:
        facts = {"method": args.method, "images": args.images, "batch": args.batch}
        facts |= {"seeds": args.seeds, "models": results}
        args.json.write_text(json.dumps(facts, indent=2) + "\n")


if __name__ == "__main__":
    main()
