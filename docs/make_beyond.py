"""Write the tables of docs/beyond-roid.md, what they promise, and the one of lock-in in
docs/beyond-roid-measured.md: ``python docs/make_beyond.py``.

Of ``benchmarks/results/beyond.json`` (200 images per domain) and ``beyond_1000.json``, which
``benchmarks/beyond_results.py`` makes of stores, and of ``lock_in.json``, ``unseen.json`` and
``gate.json``; everything else on the pages stays as it is.
"""

import json
import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from made_parts import README, filled

from trimtab.core.files import write_whole

PAGE = Path(__file__).with_name("beyond-roid.md")
MEASURED = PAGE.with_name("beyond-roid-measured.md")
RESULTS = PAGE.parents[1] / "benchmarks" / "results"
FILES = {200: "beyond.json", 1000: "beyond_1000.json"}
"""Results by images per domain."""

MODELS = tuple(
    f"{data}_{network}"
    for data in ("fashion", "cifar10")
    for network in ("resnet20_bn", "resnet20_gn", "vit")
)
SETTINGS = {
    "continual": "continual",
    "mixed": "mixed",
    "correlated": "correlated",
    "mixed_correlated(delta=0.1)": "mixed-correlated 0.1",
    "mixed_correlated(delta=0.01)": "0.01",
}
METHODS = {"source": "source", "roid": "roid", "lame": "lame", "trimtab": "**trimtab**"}
LOCKED_IN = 1.0
"""Points above the source model from which the preset counts as worse."""
MOST_ECE = 5.0
"""Largest expected calibration error that is wanted, in %."""

Row = dict[str, Any]


class Cell(NamedTuple):
    """Runs of one method in one place."""

    error: float
    """Mean error in %."""
    spread: float | None
    """Its standard error over seeds; None of one seed."""
    ece: float
    """Mean expected calibration error in %."""
    seeds: int
    """How many were run; 0 of a mean that an earlier edition has left, without its runs."""

    def __str__(self) -> str:
        return f"{self.error:.1f}" + ("" if self.spread is None else f" ± {self.spread:.1f}")

    def shown(self, seeds: int) -> str:
        """As in the table, where ``seeds`` is how many most cells have."""
        few = "" if self.seeds in (0, seeds) else f" ({self.seeds})"
        return f"{self} / {self.ece:.0f}{few}"


Place = tuple[str, str]
"""A network and a setting."""
Cells = dict[tuple[Place, str], Cell]


def read(images: int) -> Cells:
    """Mean errors by network and setting, and by method.

    The order of samples is no matter to a source model, which has one run a seed for all settings.
    """
    runs: dict[tuple[Place, str], list[Row]] = {}
    for row in json.loads((RESULTS / FILES[images]).read_text()):
        settings = SETTINGS if row["method"] == "source" else (row["scenario"],)
        if row["method"] != "source" or row["scenario"] == "continual":
            for setting in settings:
                runs.setdefault(((row["model"], setting), row["method"]), []).append(row)
    return {key: cell(found) for key, found in runs.items()}


def cell(rows: list[Row]) -> Cell:
    """The mean of runs that differ in nothing but their seed."""
    runs = [row for row in rows if row["seed"] is not None]
    shown = runs or rows
    errors = [row["error"] for row in shown]
    spread = statistics.stdev(errors) / len(errors) ** 0.5 if len(errors) > 1 else None
    ece = statistics.mean(row["ece"] for row in shown)
    return Cell(statistics.mean(errors), spread, ece, len(runs))


def table(cells: Cells) -> str:
    """Error ± its standard error / calibration error, a row for each network and method."""
    most = max(found.seeds for found in cells.values())
    lines = ["| network | method | " + " | ".join(SETTINGS.values()) + " |"]
    lines.append("|---|---|" + "---:|" * len(SETTINGS))
    for model in MODELS:
        for method, name in METHODS.items():
            found = [cells.get(((model, setting), method)) for setting in SETTINGS]
            shown = ["" if one is None else one.shown(most) for one in found]
            lines.append(f"| `{model}` | {name} | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


def promises(cells: Cells) -> str:
    """What is wanted of the preset, how often it is so, and every place where it is not."""
    everywhere = [(model, setting) for model in MODELS for setting in SETTINGS]
    correlated = [place for place in everywhere if "correlated" in place[1]]
    lines = [
        compared(cells, "No worse than the source", "source", everywhere),
        compared(cells, "No worse than ROID", "roid", everywhere),
        compared(cells, "No worse than LAME where classes are correlated", "lame", correlated),
        compared(cells, "At most half of ROID's error there", "roid", correlated, share=0.5),
        calibrated(cells, everywhere),
    ]
    return "".join(f"- {line}\n" for line in lines)


def in_short() -> str:
    """In how many settings the preset keeps its promises, as the README says it."""
    every = [read(images) for images in FILES]
    places = {key[0] for key in every[0] if key[1] == "trimtab"}
    correlated = {place for place in places if "correlated" in place[1]}

    def kept(other: str, where: set[Place], share: float = 1.0) -> str:
        counts = (
            sum(c[place, "trimtab"].error <= share * c[place, other].error for place in where)
            for c in every
        )
        return " and ".join(map(str, counts))

    return (
        f"its error is no higher than ROID's in {kept('roid', places)} of {len(places)} settings, "
        f"no higher than the source model's in {kept('source', places)}, and at most half of "
        f"ROID's in {kept('roid', correlated, 0.5)} of the {len(correlated)} with correlated "
        "classes"
    )


def compared(
    cells: Cells, words: str, other: str, places: Iterable[Place], share: float = 1.0
) -> str:
    """In how many places the preset has at most a share of another method's error."""
    pairs = [(place, cells[place, "trimtab"], cells[place, other]) for place in places]
    missed = [pair for pair in pairs if pair[1].error > share * pair[2].error]
    near = [pair for pair in missed if within(*pair[1:], share)]
    said = f"**{words}** in {len(pairs) - len(missed)} of {len(pairs)} means"
    said += f", and in {len(near)} more within the standard error" if near else ""
    beyond = [pair for pair in missed if pair not in near]
    named = [f"{where(place)} ({own} against {known})" for place, own, known in beyond]
    return said + (f"; not in {', '.join(named)}." if named else ".")


def within(own: Cell, other: Cell, share: float) -> bool:
    """Whether the preset is above another method by no more than the difference's own spread."""
    spread = ((own.spread or 0.0) ** 2 + (share * (other.spread or 0.0)) ** 2) ** 0.5
    return own.error - share * other.error <= spread


def calibrated(cells: Cells, places: Iterable[Place]) -> str:
    """In how many places the preset is calibrated."""
    known = [(place, cells[place, "trimtab"].ece) for place in places]
    missed = sorted((pair for pair in known if pair[1] > MOST_ECE), key=lambda pair: -pair[1])
    named = [f"{where(place)} ({ece:.1f})" for place, ece in missed]
    said = f"**Calibration error at most {MOST_ECE:g} %** in {len(known) - len(missed)} of "
    return f"{said}{len(known)}" + (f"; not in {', '.join(named)}." if named else ".")


def where(place: Place) -> str:
    """A network and a setting in words."""
    return f"`{place[0]}` {SETTINGS[place[1]]}"


def lock_in(rows: list[Row]) -> str:
    """Mean errors after a change and once recovered, the source's in brackets; then a count."""
    networks = list(dict.fromkeys(row["network"] for row in rows))
    known: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        known.setdefault((row["stream"], row["network"]), []).append(row)
    lines = ["| stream | " + " | ".join(f"`{network}`" for network in networks) + " |"]
    lines.append("|---|" + "---:|" * len(networks))
    for stream in dict.fromkeys(row["stream"] for row in rows):
        shown = [_halves(known[stream, network]) for network in networks]
        lines.append(f"| {stream} | {' | '.join(shown)} |")
    counts = [
        sum(row[part] <= row[f"{part}, source"] + LOCKED_IN for row in rows)
        for part in ("recovered", "after")
    ]
    lines.append(
        f"\nOf {len(rows)} streams {counts[0]} are no worse than the source, within a point, from "
        f"300 samples after the change on, and {counts[1]} in those 300 already. Means that are "
        "worse:\n"
    )
    for part, words in (("recovered", "from 300 samples on"), ("after", "in the first 300")):
        lines.append(f"- {words}: {'; '.join(_worse(known, part))}.")
    return "\n".join(lines) + "\n"


def _worse(known: dict[tuple[str, str], list[Row]], part: str) -> Iterable[str]:
    """Where the mean error is above the source's, which stands in brackets."""
    for (stream, network), rows in known.items():
        own, source = (statistics.mean(row[part + of] for row in rows) for of in ("", ", source"))
        if own > source + LOCKED_IN:
            yield f"{stream} on `{network}` {own:.0f} ({source:.0f})"


def _halves(rows: list[Row]) -> str:
    own, source = (
        [statistics.mean(row[part + of] for row in rows) for part in ("after", "recovered")]
        for of in ("", ", source")
    )
    return f"{own[0]:.0f}, {own[1]:.0f} ({source[0]:.0f}, {source[1]:.0f})"


def page(written: str) -> str:
    """The preset's page with its tables made anew."""
    parts = {}
    for images in FILES:
        cells = read(images)
        parts |= {f"table {images}": table(cells), f"promises {images}": promises(cells)}
    return filled(written, parts, PAGE)


def measured_page(written: str) -> str:
    """The page of what was measured beside them, with its table made anew."""
    locked, unseen, gates = (
        json.loads((RESULTS / f"{name}.json").read_text()) for name in ("lock_in", "unseen", "gate")
    )
    parts = {"lock-in": lock_in(locked), "unseen": strangers(unseen), "gate": gate(gates)}
    return filled(written, parts, MEASURED)


def gate(networks: list[Row]) -> str:
    """Points that rules of the gate lose, and in brackets on batches of few classes."""
    lines = [f"| | {' | '.join(network['network'] for network in networks)} |"]
    lines.append("|---|" + "---:|" * len(networks))
    for rule in networks[0]["lost"]:
        pairs = [network["lost"][rule] for network in networks]
        cells = " | ".join(f"{every:.1f} ({few:.1f})" for every, few in pairs)
        lines.append(f"| {rule} | {cells} |")
    return "\n".join(lines) + "\n"


def strangers(rows: list[Row]) -> str:
    """Mean errors on networks that chose no constant, a row for each network and method."""
    lines = ["| network | method | seeds | " + " | ".join(SETTINGS.values()) + " |"]
    lines.append("|---|---|---:|" + "---:|" * len(SETTINGS))
    places = dict.fromkeys((row["network"], row["method"]) for row in rows)
    for network, method in places:
        chosen = [row for row in rows if (row["network"], row["method"]) == (network, method)]
        found = [[row for row in chosen if row["scenario"] == setting] for setting in SETTINGS]
        fewest = min(map(len, found))
        cells = [f"{statistics.mean(row['error'] for row in runs):.1f}" for runs in found]
        lines.append(f"| {network} | {method} | {fewest} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def readme(written: str) -> str:
    """The README with its counts made anew."""
    return filled(written, {"preset": in_short()}, README)


if __name__ == "__main__":
    for path, made in ((PAGE, page), (MEASURED, measured_page), (README, readme)):
        write_whole(path, made(path.read_text(encoding="utf-8")).encode())
