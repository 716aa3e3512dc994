"""Write docs/results.md: ``python docs/make_results.py``.

Of the results kept in ``benchmarks/results/shipped.json``, or of those named; new ones are made by
``trimtab bench shipped --submission benchmarks/results/shipped.json``. Those at the paper's size
are in ``paper-size.json``, those of the preset on shorter streams in ``beyond_1000.json``.
"""

import argparse
import json
import statistics
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from trimtab.bench.result import RunResult
from trimtab.bench.submission import read_results
from trimtab.core.files import write_whole
from trimtab.report import formats
from trimtab.report.metrics import AVERAGES
from trimtab.report.table import tables

PAGE = Path(__file__).parent / "results.md"
KEPT = PAGE.parents[1] / "benchmarks" / "results"
RESULTS = KEPT / "shipped.json"

HEAD = """<!-- Made by docs/make_results.py from the results of `trimtab bench shipped`. -->

# Results

What the shipped networks and methods do on corrupted images, with every method at its default
settings: error in percent over the stream, severity 5, the fifteen corruptions, made on the fly
from clean test images. BN, GN and LN say which norm layers a network has; `trimtab models` knows
them as `cifar10_resnet20_bn`, `fashion_vit` and so on. `trimtab data cifar10` and
`trimtab bench shipped` make the numbers again.
Measured on {machine}.

"""

SETTINGS = {
    "continual": "continual",
    "mixed": "mixed",
    "correlated": "correlated",
    "mixed_correlated(delta=0.1)": "mixed, correlated (0.1)",
}
METHODS = {
    "source": "Source",
    "bn1": "BN-1",
    "tent": "TENT",
    "eata": "EATA",
    "sar": "SAR",
    "rotta": "RoTTA",
    "lame": "LAME",
    "roid": "ROID",
    "trimtab": "preset",
}

Errors = dict[tuple[str, str, str], tuple[float, float]]
"""Error and calibration error in % by network, setting and method."""


def page(results: list[RunResult]) -> str:
    """The whole page, in Markdown."""
    facts = results[0].machine
    system = facts["system"].split("-")[0]
    machine = f"{facts['cores']} cores ({facts['processor']}), one thread a run, {system}"
    shown = formats.write("md", tables(results), AVERAGES["samples"], None)
    notes, long_notes = (
        PAGE.with_name(name).read_text() for name in ("results-notes.md", "paper-size-notes.md")
    )
    compared = paper_size(long_streams(), short_streams(results))
    return "\n".join([HEAD.format(machine=machine) + shown, notes, compared, long_notes])


def paper_size(longer: Errors, shorter: Errors) -> str:
    """A table of all settings at the paper's size, and below each the same on shorter streams; the
    lowest error is bold where several methods were run."""
    lines = [
        f"| network | setting | images per domain | {' | '.join(METHODS.values())} |",
        "|---|---|---:|" + "---:|" * len(METHODS),
    ]
    places = sorted(
        {key[:2] for key in longer}, key=lambda place: (place[0], [*SETTINGS].index(place[1]))
    )
    for model, setting in places:
        for images, errors in (("10,000", longer), ("1,000", shorter)):
            found = [errors.get((model, setting, method)) for method in METHODS]
            others = [round(one[0], 1) for one in found[1:] if one is not None]
            lowest = min(others) if len(others) > 1 else -1.0
            cells = " | ".join(_cell(one, found[0], lowest) for one in found)
            lines.append(f"| `{model}` | {SETTINGS[setting]} | {images} | {cells} |")
    return "\n".join(lines) + "\n"


def _cell(
    found: tuple[float, float] | None, source: tuple[float, float] | None, lowest: float
) -> str:
    if found is None:
        return ""
    error = f"{found[0]:.1f}"
    shown = f"**{error}**" if float(error) <= lowest else error
    worse = " ▲" if source is not None and float(error) > round(source[0], 1) else ""
    return f"{shown} / {found[1]:.0f}{worse}"


def long_streams() -> Errors:
    """Those at the paper's size; the source's error, which no order of samples changes, in every
    setting of its network."""
    found = _errors(read_results(KEPT / "paper-size.json"))
    sources = {model: errors for (model, _, method), errors in found.items() if method == "source"}
    return {(m, setting, "source"): sources[m] for m, setting, _ in found if m in sources} | found


def short_streams(shipped: Iterable[RunResult]) -> Errors:
    """Streams of 1,000 images per domain, means over seeds: in batches of 64 where the preset was
    compared, otherwise in batches of 100."""
    runs = defaultdict(list)
    for row in json.loads((KEPT / "beyond_1000.json").read_text()):
        key = row["model"], row["scenario"], row["method"]
        runs[key].append((row["error"], row["ece"]))
    return _errors(shipped) | {key: _mean(values) for key, values in runs.items()}


def _errors(results: Iterable[RunResult]) -> Errors:
    runs = defaultdict(list)
    for result in results:
        if result.scores is not None:
            key = result.spec.model, result.spec.scenario, result.spec.method
            runs[key].append((100 * result.scores.error, 100 * result.scores.ece))
    return {key: _mean(values) for key, values in runs.items()}


def _mean(values: list[tuple[float, float]]) -> tuple[float, float]:
    errors, calibration = zip(*values, strict=True)
    return statistics.fmean(errors), statistics.fmean(calibration)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "results",
        type=Path,
        nargs="?",
        default=RESULTS,
        help="folder or submission that trimtab bench wrote",
    )
    results = read_results(parser.parse_args().results)
    if not results:
        raise SystemExit("no results there; run: trimtab bench shipped")
    write_whole(PAGE, page(results).encode())


if __name__ == "__main__":
    main()
