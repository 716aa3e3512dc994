"""Errors of the shipped networks on corrupted images; writes docs/results.md.

``python benchmarks/shipped_models.py`` runs what is missing in ``benchmarks/shipped_models/`` (one
JSON file for each dataset, scenario and seed, written whole) and then writes the page. CIFAR-10
has to be there: ``trimtab data cifar10``. Every method sees the very same batches.
"""

import argparse
import json
import statistics
from pathlib import Path

import torch
from rich.progress import track

from trimtab import adapt, models, streams
from trimtab.core.files import write_whole

ROOT = Path(__file__).resolve().parent.parent
STORE = ROOT / "benchmarks" / "shipped_models"
SEEDS = (0, 1, 2)
IMAGES_PER_DOMAIN = 1000
BATCH_SIZE = 200

BATCH_NORM = ("source", "bn1", "tent", "roid")
OTHER_NORM = ("source", "tent", "lame", "roid")
SCENARIOS = {
    "continual": (("resnet20_bn",), BATCH_NORM),
    "mixed": (("resnet20_bn",), BATCH_NORM),
    "correlated": (("resnet20_gn", "vit"), OTHER_NORM),
    "mixed_correlated": (("resnet20_gn", "vit"), OTHER_NORM),
}
"""Which nets meet which methods in a scenario."""

DATASETS = {"fashion": "fashion_mnist", "cifar10": "cifar10"}
TITLES = {"fashion": "Fashion-MNIST, the embedded images", "cifar10": "CIFAR-10-C"}


def run(dataset: str, name: str, seed: int) -> dict[str, dict[str, float]]:
    """Percent of wrong predictions along one stream, by net and method."""
    clean = streams.load(DATASETS[dataset])
    nets, methods = SCENARIOS[name]
    adapters = {
        (net, method): adapt(models.load(f"{dataset}_{net}"), method, seed=seed)
        for net in nets
        for method in methods
    }
    stream = streams.scenario(name).stream(
        clean, seed=seed, batch_size=BATCH_SIZE, images_per_domain=IMAGES_PER_DOMAIN
    )
    wrong = dict.fromkeys(adapters, 0)
    seen = 0
    for batch in track(stream, f"{dataset} {name} {seed}"):
        seen += len(batch)
        for key, adapter in adapters.items():
            wrong[key] += int((adapter(batch.inputs).argmax(dim=1) != batch.labels).sum())
    return {net: {method: 100 * wrong[net, method] / seen for method in methods} for net in nets}


def run_missing(datasets: list[str]) -> None:
    """Fill the store."""
    STORE.mkdir(exist_ok=True)
    for dataset in datasets:
        for name in SCENARIOS:
            for seed in SEEDS:
                path = STORE / f"{dataset}-{name}-{seed}.json"
                if not path.exists():
                    write_whole(path, json.dumps(run(dataset, name, seed), indent=1).encode())


def page() -> str:
    """The page, of what the store has."""
    lines = [INTRODUCTION]
    for dataset, title in TITLES.items():
        lines += [f"\n## {title}\n"]
        for name, (nets, methods) in SCENARIOS.items():
            runs = [_read(STORE / f"{dataset}-{name}-{seed}.json") for seed in SEEDS]
            if not all(runs):
                lines.append(f"`{name}`: not run yet.\n")
                continue
            lines += [
                f"| {name} | " + " | ".join(methods) + " |",
                "|---" * (len(methods) + 1) + "|",
            ]
            for net in nets:
                cells = [_cell([one[net][method] for one in runs]) for method in methods]
                lines.append(f"| `{dataset}_{net}` | " + " | ".join(cells) + " |")
            lines.append("")
    return "\n".join(lines)


def _cell(errors: list[float]) -> str:
    return f"{statistics.mean(errors):.1f} ± {statistics.stdev(errors):.1f}"


def _read(path: Path) -> dict[str, dict[str, float]]:
    return json.loads(path.read_text()) if path.exists() else {}


INTRODUCTION = f"""# Results

Errors in percent, mean and standard deviation of {len(SEEDS)} seeds, of the networks that are
shipped: severity 5, the 15 corruptions of the benchmark, {IMAGES_PER_DOMAIN} test images each,
batches of {BATCH_SIZE}, every method with its own default settings. Made by
`benchmarks/shipped_models.py` on 2 cores of a Xeon VM without an accelerator.
"""

NOTES = ROOT / "benchmarks" / "shipped_models" / "notes.md"


def main() -> None:
    """Run what is missing, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, default=list(DATASETS))
    args = parser.parse_args()
    torch.set_num_threads(1)
    run_missing(args.datasets)
    notes = NOTES.read_text() if NOTES.exists() else ""
    write_whole(ROOT / "docs" / "results.md", (page() + notes).encode())


if __name__ == "__main__":
    main()
