"""Write docs/which-method.md from measured results: ``python docs/make_which.py``."""

import json
import statistics
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from trimtab.bench.names import method_title
from trimtab.bench.submission import read_results
from trimtab.core.files import write_whole

PAGE = Path(__file__).with_name("which-method.md")
RESULTS = PAGE.parents[1] / "benchmarks" / "results"
NEAR = 0.5
"""Percentage points within which two errors count as level."""

STREAMS = {
    "continual": "classes mixed, one domain after the other",
    "mixed": "classes mixed, domains mixed",
    "correlated": "classes in runs, one domain after the other",
    "mixed_correlated(delta=0.1)": "classes in runs, domains mixed",
}
NORMS = {"bn": "batch norm", "gn": "group norm", "vit": "layer norm (transformer)"}

Where = tuple[str, str]
"""Kind of norm layers and scenario."""
Errors = dict[Where, dict[str, dict[tuple[str, int], float]]]
"""For each place and method, errors in percent by network and seed."""

HEAD = """\
<!-- Made by docs/make_which.py from benchmarks/results. Run it again after new results. -->

# Which method for my stream?

Two questions decide: do classes come mixed or in runs, and which norm layers does your network
have? The tables are measured, on corrupted CIFAR-10 and Fashion-MNIST (fifteen corruptions,
severity 5), with a small network of each kind for each of the two. Your stream is another one: try
two methods on yours, with `guard=True`.

"""

FOOT = f"""\
Errors are means over networks and seeds, in percent: 1,000 images per domain, batches of 100, every
method at its defaults (`trimtab bench shipped`). *Take* names the lowest, and what is within {NEAR}
points of it. *Worse than nothing* are methods whose mean error is above the source model's.

**LAME is for runs only.** With classes mixed it had 59.6 % (continual) and 77.4 % (mixed) where the
source model had 48.7 %, in the demo that the README shows. The guard is there for such mistakes.

The preset `trimtab` was measured on other streams (200 images per domain, one to three seeds), so
its column is beside the others, not against them; [beyond ROID](beyond-roid.md) compares it with
ROID on the same streams, also in settings that have no line here.

What the tables do not say: [costs](performance.md) (BN-1 and LAME need no backward pass), single
samples ([single frames](single-frames.md)), calibration, and large networks.
"""


def measured() -> Errors:
    """Errors of all runs in the benchmark's results."""
    errors: Errors = defaultdict(lambda: defaultdict(dict))
    for result in read_results(RESULTS / "shipped.json"):
        spec = result.spec
        if result.scores is not None and not spec.options:
            place = (spec.model.rsplit("_", 1)[1], spec.scenario)
            errors[place][spec.method][spec.model, spec.seed] = 100 * result.scores.error
    return errors


def preset(errors: Errors) -> dict[Where, float]:
    """Mean errors of the preset where all networks have runs, each network counting once."""
    found: dict[Where, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in json.loads((RESULTS / "beyond.json").read_text()):
        place = (row["model"].rsplit("_", 1)[1], row["scenario"])
        if row["method"] == "trimtab":
            found[place][row["model"]].append(row["error"])
    return {
        place: statistics.mean(statistics.mean(seeds) for seeds in networks.values())
        for place, networks in found.items()
        if place in errors and networks.keys() == {model for model, _ in errors[place]["source"]}
    }


def means(errors: dict[str, dict[tuple[str, int], float]]) -> dict[str, float]:
    """The mean error of every method that has all the runs that the source model has."""
    wanted = errors["source"].keys()
    complete = {name: runs for name, runs in errors.items() if runs.keys() >= wanted}
    return {name: statistics.mean(runs[run] for run in wanted) for name, runs in complete.items()}


def advice(found: dict[str, float]) -> tuple[str, str]:
    """The methods to take, the best first, and those that are worse than none."""
    source = found["source"]
    adapted = sorted((error, name) for name, error in found.items() if name != "source")
    best = adapted[0][0]
    take = [name for error, name in adapted if error <= best + NEAR and error < source]
    worse = [name for error, name in adapted if error > source]
    return _titles(take) or "none of them", _titles(worse) or "–"


def _titles(names: Iterable[str]) -> str:
    return ", ".join(method_title(name) for name in names)


def table(norm: str, errors: Errors, ours: dict[Where, float]) -> str:
    """What was measured on networks with this kind of norm layers."""
    places = [(norm, words) for words in STREAMS if (norm, words) in errors]
    known = {place: means(errors[place]) for place in places}
    names = sorted({name for found in known.values() for name in found} - {"source"})
    columns = ["source", *names]
    head = ["stream", "take", "worse than nothing", *map(method_title, columns), "preset"]
    lines = [" | ".join(head), "|".join([*["---"] * 3, *["---:"] * (len(columns) + 1)])]
    for place, found in known.items():
        take, worse = advice(found)
        numbers = [f"{found[name]:.1f}" if name in found else "–" for name in columns]
        own = f"{ours[place]:.1f}" if place in ours else "–"
        lines.append(" | ".join([STREAMS[place[1]], f"**{take}**", worse, *numbers, own]))
    return "\n".join(f"| {line} |" for line in lines)


def page() -> str:
    """The whole page."""
    errors = measured()
    ours = preset(errors)
    parts = [f"## {NORMS[norm].capitalize()}\n\n{table(norm, errors, ours)}\n" for norm in NORMS]
    return HEAD + "\n".join(parts) + "\n" + FOOT


if __name__ == "__main__":
    write_whole(PAGE, page().encode())
