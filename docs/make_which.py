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
    "mixed_correlated(delta=0.01)": "whole batches of one class, domains mixed",
}
NORMS = {"bn": "batch norm", "gn": "group norm", "vit": "layer norm (transformer)"}
COLUMNS = ("source", "bn1", "tent", "lame", "roid", "trimtab")
FROM_SHIPPED = ("bn1", "tent")
"""Methods of the shipped suite, whose batches are of 100; all others are of 64."""

Where = tuple[str, str]
"""Kind of norm layers and scenario."""
Errors = dict[Where, dict[str, dict[str, list[float]]]]
"""For each place and method, errors in percent by network, one a seed."""

HEAD = """\
<!-- Made by docs/make_which.py from benchmarks/results. Run it again after new results. -->

# Which method for my stream?

If you do not know what your stream will be like, take the preset:
`trimtab.adapt(model, "trimtab")`. Where classes come in runs it has the lowest error by far; where
they come mixed it is at most 1.1 points above the best, and without batch norms it is the best.

If you do know, two questions decide: do classes come mixed or in runs, and which norm layers does
your network have? The tables are measured, on corrupted CIFAR-10 and Fashion-MNIST (fifteen
corruptions, severity 5), with a small network of each kind for each of the two. Your stream is
another one: try two methods on yours, with `guard=True`.

"""

FOOT = f"""\
Errors in percent, means over two networks and one to three seeds, of streams of 1,000 images per
domain, every method at its defaults. Source, LAME, ROID and the preset saw the same batches of 64
([beyond ROID](beyond-roid.md)); BN-1 and TENT batches of 100 of the same domains
(`trimtab bench shipped`). *Take* names the lowest, and what is within {NEAR} points of it. *Worse
than nothing* are methods whose mean error is above the source model's. Empty was not run, or makes
no sense without batch norms.

**LAME is for runs only.** With classes mixed it is worse than the source model everywhere. The
[guard](guard.md) is there for such mistakes; the preset has one unless told otherwise.

What the tables do not say: [costs](performance.md) (BN-1 and LAME need no backward pass), single
samples ([single frames](single-frames.md)), calibration ([beyond ROID](beyond-roid.md)), and large
networks.
"""


def measured() -> Errors:
    """Errors of all runs with 1,000 images per domain.

    The order of samples is no matter to a source model, which has one run a seed for all settings.
    """
    errors: Errors = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for row in json.loads((RESULTS / "beyond_1000.json").read_text()):
        whole = row["method"] == "source"
        if not whole or row["scenario"] == "continual":
            for scenario in STREAMS if whole else (row["scenario"],):
                errors[_kind(row["model"]), scenario][row["method"]][row["model"]].append(
                    row["error"]
                )
    for result in read_results(RESULTS / "shipped.json"):
        spec = result.spec
        if spec.method in FROM_SHIPPED and result.scores is not None and not spec.options:
            found = errors[_kind(spec.model), spec.scenario][spec.method]
            found[spec.model].append(100 * result.scores.error)
    return errors


def _kind(model: str) -> str:
    return model.rsplit("_", 1)[1]


def means(errors: dict[str, dict[str, list[float]]]) -> dict[str, float]:
    """The mean error of every method that has all networks, each counting once."""
    wanted = errors["source"].keys()
    return {
        name: statistics.mean(statistics.mean(seeds) for seeds in networks.values())
        for name, networks in errors.items()
        if networks.keys() == wanted
    }


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


def table(norm: str, errors: Errors) -> str:
    """What was measured on networks with this kind of norm layers."""
    known = {words: means(errors[norm, words]) for words in STREAMS if (norm, words) in errors}
    columns = [name for name in COLUMNS if any(name in found for found in known.values())]
    head = ["stream", "take", "worse than nothing", *map(method_title, columns)]
    lines = [" | ".join(head), " | ".join([*["---"] * 3, *["---:"] * len(columns)])]
    for words, found in known.items():
        take, worse = advice(found)
        numbers = [f"{found[name]:.1f}" if name in found else "" for name in columns]
        lines.append(" | ".join([STREAMS[words], f"**{take}**", worse, *numbers]))
    return "\n".join(f"| {line} |" for line in lines)


def page() -> str:
    """The whole page."""
    errors = measured()
    parts = [f"## {words.capitalize()}\n\n{table(norm, errors)}\n" for norm, words in NORMS.items()]
    return HEAD + "\n".join(parts) + "\n" + FOOT


if __name__ == "__main__":
    write_whole(PAGE, page().encode())
