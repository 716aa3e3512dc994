"""What was run, on what, and when."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from trimtab.bench.result import RunResult
from trimtab.report.markup import Markup, element, together
from trimtab.report.sections.layout import scrolling, section
from trimtab.report.table import Table


def provenance(tables: list[Table], results: list[RunResult]) -> Markup:
    """The section."""
    return section(
        "provenance",
        "What was run",
        "Rows of different weights, images, batch size, severity or window never share a column.",
        element("div", *(_protocol(table) for table in tables), _machines(results), class_="cards"),
        _models(results),
    )


def _protocol(table: Table) -> Markup:
    runs = [run for cell in table.cells.values() for run in cell.runs]
    samples = sorted({run.scores.samples for run in runs if run.scores is not None})
    images = table.protocol.images_per_domain
    facts = {
        "Runs": f"{len(runs):,}",
        "Severity": str(table.protocol.severity),
        "Images per domain": "all" if images is None else f"{images:,}",
        "Samples a stream": _range(samples),
        "Batch size": str(table.protocol.batch_size),
        "Window": "none" if table.protocol.window is None else str(table.protocol.window),
        "Seeds": ", ".join(str(seed) for seed in sorted({run.spec.seed for run in runs})),
        "Data": ", ".join(sorted({run.spec.data for run in runs})),
        "Scenarios": ", ".join(sorted({run.spec.scenario for run in runs})),
    }
    return _card("Protocol", facts)


def _machines(results: list[RunResult]) -> Markup:
    started = sorted(run.started[:16].replace("T", " ") for run in results)
    hours = sum(run.seconds for run in results) / 3600
    facts = {
        "First and last start": " – ".join(dict.fromkeys((started[0], started[-1]))),
        "Time of all runs": f"{hours:.1f} h" if hours >= 1 else f"{60 * hours:.1f} min",
    }
    return _card("Machine", facts | _distinct(results))


def _distinct(results: Iterable[RunResult]) -> dict[str, str]:
    """Each fact of the machines; where runs differ, each value with its number of runs."""
    counts: dict[str, Counter[str]] = {}
    for run in results:
        for name, value in _flat(run.machine):
            counts.setdefault(name, Counter())[value] += 1
    return {
        name.capitalize(): next(iter(values))
        if len(values) == 1
        else ", ".join(f"{value} ({count} runs)" for value, count in values.most_common())
        for name, values in counts.items()
    }


def _flat(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            pairs += _flat(value)
        else:
            pairs.append((str(name), "none" if value is None else str(value)))
    return pairs


def _models(results: list[RunResult]) -> Markup:
    counts = Counter((run.spec.model, run.spec.weights or "unknown") for run in results)
    head = element("tr", *(element("th", word) for word in ("Model", "Weights", "Runs")))
    rows = [
        element(
            "tr",
            element("th", model, scope="row"),
            element("td", element("code", weights)),
            element("td", f"{count:,}"),
        )
        for (model, weights), count in sorted(counts.items())
    ]
    content = element(
        "table", element("thead", head), element("tbody", *rows), class_="small plain"
    )
    return scrolling(content, "Models and weights")


def _card(title: str, facts: Mapping[str, str]) -> Markup:
    entries = [together(element("dt", name), element("dd", value)) for name, value in facts.items()]
    return element("div", element("h3", title), element("dl", *entries), class_="card")


def _range(numbers: list[int]) -> str:
    if not numbers:
        return "unknown"
    low, high = numbers[0], numbers[-1]
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
