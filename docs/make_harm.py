"""Write docs/harm.md, and its counts into docs/guard.md, from the benchmark of harm:
``python docs/make_harm.py``.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from made_parts import README, filled

from trimtab.core.files import write_whole
from trimtab.reproduce.experiments.harm import (
    COST_LIMIT,
    FIRST_METHODS,
    GAIN_LIMIT,
    HELPFUL,
    STRETCH_LIMIT,
    WHOLE_LIMIT,
)
from trimtab.streams.hostile import STREAMS

PAGE = Path(__file__).with_name("harm.md")
GUARD_PAGE = PAGE.with_name("guard.md")
RESULTS = PAGE.parents[1] / "benchmarks" / "results" / "harm.json"
NOTES = PAGE.with_name("harm-notes.md")

LIMITS = (
    ("over the whole stream", "whole", WHOLE_LIMIT),
    ("over any 1,000 samples", "worst_1000", STRETCH_LIMIT),
)
"""Most points above the source model, and where."""

Row = dict[str, Any]

HEAD = """\
<!-- Made by docs/make_harm.py from benchmarks/results/harm.json and harm-notes.md. -->

# Harm, with and without the guard

How much worse than the source model can adapting get, and what is left of that with a
[guard](guard.md)? `trimtab reproduce harm` asks it of methods on streams of 1,536 samples in
batches of 64: a lead of corrupted images, a hard stretch, and clean images afterwards. The hard
stretches are

- three more domains (*benign*), all domains at once (*mixed*), three that come back 20 times
  (*recurring*), a slow drift of two corruptions at a time (*drifting*);
- *one class*, a *late label shift*, and classes in runs from the first sample on (*correlated*:
  domain after domain; *correlated mix*: all domains at once, Dirichlet 0.01);
- *noise*, grey frames (*constant*), the hardest noise and flat light in turns (*extremes*), a
  broken sensor (*out of range*), a *stuck camera*;
- 20 % of malicious samples: *attacked* (DIA, gradients through batch statistics), *flooded* (sure
  mistakes of the source, of all classes), *blended* (halves of two images).

Everything is in points above the source model on the same samples, without → with the guard. A
star marks streams on which it fell back.

"""


def page() -> str:
    """The whole page, in Markdown."""
    found: list[Row] = json.loads(RESULTS.read_text())
    parts = [
        HEAD,
        "## The promises\n\n",
        "".join(f"- {line}\n" for line in kept(found)),
        "\n![Error along hostile streams, and where the source answered](harm.svg)\n\n",
        "Bands are where the guard had fallen back; single batches that the source answered are "
        "not marked.\n\n",
        "## The worst of everything\n\n",
        *(f"{_worst_table(found, by)}\n" for by in ("method", "model", "stream")),
        "## Every stream\n\n",
        f"{_first_methods(found)}\n",
        f"{_others(found)}\n",
        NOTES.read_text(),
    ]
    return "".join(parts)


def guard_page(written: str) -> str:
    """The guard's page with its counts made anew, between two comments."""
    return filled(written, {"harm": counts(json.loads(RESULTS.read_text()))}, GUARD_PAGE)


def readme(written: str) -> str:
    """The README with its counts made anew."""
    return filled(written, {"harm": in_short(json.loads(RESULTS.read_text()))}, README)


def counts(found: list[Row]) -> str:
    """How many streams end above the source model, and by how much, as a table."""
    lines = [f"| {len(found)} streams | without guard | with |", "|---|---:|---:|"]
    for where, key, limit in LIMITS:
        both = [[row[f"{key}_{way}"] or 0 for row in found] for way in ("without", "with")]
        above = " | ".join(str(sum(value > limit for value in values)) for values in both)
        worst = " | ".join(_points(max(values)) for values in both)
        lines += [
            f"| more than {limit:g} above {where} | {above} |",
            f"| the worst {where} | {worst} |",
        ]
    return "\n".join(lines) + "\n"


def in_short(found: list[Row]) -> str:
    """How many streams end above their limits, as the README says it."""
    (_, whole, limit), (stretch, worst, far) = LIMITS
    without, guarded = (
        [row[f"{whole}_{way}"] or 0 for row in found] for way in ("without", "with")
    )
    above = [sum(value > limit for value in values) for values in (without, guarded)]
    beyond = sum((row[f"{worst}_with"] or 0) > far for row in found)
    return (
        f"Of {len(found)} [hard and hostile streams](docs/harm.md) {above[0]} end more than "
        f"{limit:g} point above the source without it (up to {max(without):.0f}), and {above[1]} "
        f"with it (up to {max(guarded):.1f}), {beyond or 'none'} more than {far:g} {stretch}"
    )


def kept(found: list[Row]) -> list[str]:
    """What the guard promises, how often it holds, and every stream on which it does not."""
    lines = []
    for words, key, limit in LIMITS:
        without, above = (
            [row for row in found if (row[f"{key}_{way}"] or 0) > limit]
            for way in ("without", "with")
        )
        lines.append(
            f"**At most {limit:g} above the source {words}**: of {len(found)} streams "
            f"{len(without)} break it without a guard, {len(above)} with it"
            f"{_listed(above, f'{key}_with')}"
        )
    helpful = [row for row in found if row["stream"] in HELPFUL and (row["whole_without"] or 0) < 0]
    gone = [row for row in helpful if row["gain_lost"] > GAIN_LIMIT]
    lines.append(
        f"**At most {GAIN_LIMIT:g} of a gain lost** on {' and '.join(HELPFUL)} streams: of "
        f"{len(helpful)} with a gain {len(gone)} lose more{_listed(gone, 'gain_lost')}"
    )
    calm = [row for row in found if "1" not in row["source_predicts"]]
    dear = [row for row in calm if row["cost"] > COST_LIMIT]
    lines.append(
        f"**At most {COST_LIMIT:g} times the passes** after its first looks, where it never fell "
        f"back: {len(dear)} of {len(calm)} streams take more. They are short, and looks on credit "
        "weigh; [time was measured](guard.md#what-it-costs) on longer ones."
    )
    return lines


def _listed(rows: list[Row], key: str) -> str:
    """A line below for each method and network, its streams in order, the worst first."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in sorted(rows, key=lambda row: -row[key]):
        what = f"{row['stream']} {row[key]:+.1f}" + (
            f" (seed {row['seed']})" if row["seed"] > 1 else ""
        )
        found.setdefault((row["method"], row["model"]), []).append(what)
    lines = [
        f"\n    - {method}, `{model}`: {', '.join(streams)}"
        for (method, model), streams in found.items()
    ]
    return ":" + "".join(lines) if lines else "."


def _worst_table(found: list[Row], by: str) -> str:
    word = {"model": "network"}.get(by, by)
    lines = [
        f"| {word} | streams | whole stream | 1,000 samples | clean afterwards | alarms |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name in sorted({row[by] for row in found}):
        chosen = [row for row in found if row[by] == name]
        cells = [
            f"{_most(chosen, f'{key}_without')} → {_most(chosen, f'{key}_with')}"
            for key in ("whole", "worst_1000", "clean_after")
        ]
        alarms = sum(row["alarms"] for row in chosen)
        shown = f"`{name}`" if by == "model" else name
        lines.append(f"| {shown} | {len(chosen)} | {' | '.join(cells)} | {alarms} |")
    return "\n".join(lines) + "\n"


def _most(rows: Iterable[Row], key: str) -> str:
    known = [row[key] for row in rows if row[key] is not None]
    return _points(max(known)) if known else ""


def _first_methods(found: list[Row]) -> str:
    """A line for every network, stream and seed, and a column for each of the telling methods."""
    lines = [
        f"| network | hard stretch | seed | source | {' | '.join(FIRST_METHODS)} | worst 1,000 |",
        "|---|---|---:|---:|" + "---:|" * (len(FIRST_METHODS) + 1),
    ]
    cells = {(r["model"], r["stream"], r["seed"], r["method"]): r for r in found}
    for model, stream, seed in _places(row for row in found if row["method"] in FIRST_METHODS):
        rows = [cells.get((model, stream, seed, method)) for method in FIRST_METHODS]
        known = [row for row in rows if row is not None]
        worst = f"{_most(known, 'worst_1000_without')} → {_most(known, 'worst_1000_with')}"
        changes = " | ".join("" if row is None else _change(row) for row in rows)
        lines.append(
            f"| `{model}` | {stream} | {seed} | {known[0]['source_error']:.1f} | {changes} | "
            f"{worst} |"
        )
    return "\n".join(lines) + "\n"


def _others(found: list[Row]) -> str:
    """A line for every network, stream and seed, and a column for each of the other methods."""
    rest = [row for row in found if row["method"] not in FIRST_METHODS]
    methods = sorted({row["method"] for row in rest})
    lines = [
        f"| network | hard stretch | seed | {' | '.join(methods)} |",
        "|---|---|---:|" + "---:|" * len(methods),
    ]
    cells = {(r["model"], r["stream"], r["seed"], r["method"]): r for r in rest}
    for place in _places(rest):
        model, stream, seed = place
        rows = [cells.get((*place, method)) for method in methods]
        changes = " | ".join("" if row is None else _change(row) for row in rows)
        lines.append(f"| `{model}` | {stream} | {seed} | {changes} |")
    return "\n".join(lines) + "\n"


def _places(rows: Iterable[Row]) -> list[tuple[str, str, int]]:
    order = list(STREAMS)
    places = {(row["model"], row["stream"], row["seed"]) for row in rows}
    return sorted(places, key=lambda place: (place[0], order.index(place[1]), place[2]))


def _change(row: Row) -> str:
    star = "\\*" if row["alarms"] else ""
    return f"{_points(row['whole_without'])} → {_points(row['whole_with'])}{star}"


def _points(value: float) -> str:
    return f"{round(value, 1) + 0.0:+.1f}"


def main() -> None:
    write_whole(PAGE, page().encode())
    for path, made in ((GUARD_PAGE, guard_page), (README, readme)):
        write_whole(path, made(path.read_text(encoding="utf-8")).encode())


if __name__ == "__main__":
    main()
