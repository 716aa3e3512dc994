"""Made-up results: numbers that are easy to check by hand."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from trimtab.bench.example_files import ExampleFiles, Shown
from trimtab.bench.png import png
from trimtab.bench.result import ConfidenceBin, Cost, CurvePoint, DomainStart, RunResult, Scores
from trimtab.bench.spec import RunSpec
from trimtab.bench.store import RunStore

WEIGHTS = "0123456789abcdef"


def spec(method: str = "roid", **values: Any) -> RunSpec:
    given = {"model": "tiny", "data": "shapes", "scenario": "continual", "weights": WEIGHTS}
    return RunSpec(method=method, **given | values)


def scores(error: float, source_error: float = 0.5, **values: Any) -> Scores:
    found = Scores(
        samples=600,
        error=error,
        domain_error=error,
        errors={"fog": error - 0.05, "snow": error + 0.05},
        curve=[
            CurvePoint(200, error - 0.01, 0.1),
            CurvePoint(400, error, 0.2),
            CurvePoint(600, error + 0.01, 0.3),
        ],
        tvd=0.2,
        predicted=[300, 300],
        labels=[300, 300],
        ece=0.1,
        nll=1.0,
        reliability=[
            ConfidenceBin(0, 0.0, 0.0),
            ConfidenceBin(200, 0.6, 0.5),
            ConfidenceBin(400, 0.9, 0.8),
        ],
        negative_flips=0.02,
        positive_flips=0.1,
        source_error=source_error,
        collapsed=False,
        parameter_distance=0.01,
    )
    found = replace(found, **values)
    return replace(
        found,
        curve=[CurvePoint(*point) for point in found.curve],
        reliability=[ConfidenceBin(*entry) for entry in found.reliability],
        domain_starts=[DomainStart(*start) for start in found.domain_starts],
    )


def cost(multiple: float = 2.0) -> Cost:
    return Cost(1.0, 1.0, multiple, 100.0, 500.0, 10, 0, 0)


def done(run: RunSpec, error: float, multiple: float = 2.0, **values: Any) -> RunResult:
    return RunResult(
        run,
        "done",
        started="2026-01-05T09:00:00",
        seconds=12.0,
        machine={"processor": "Abacus", "versions": {"torch": "2.13.0"}},
        scores=scores(error, **values),
        cost=cost(multiple),
    )


def failed(run: RunSpec, error: str = "ValueError: no") -> RunResult:
    return RunResult(run, "failed", started="2026-01-05T09:00:00", seconds=1.0, error=error)


def three_methods(seeds: Iterable[int] = (0, 1)) -> list[RunResult]:
    """Source, a method that helps, and one that helps in one setting and harms in the other."""
    errors = {
        ("source", "continual"): 0.5,
        ("source", "mixed"): 0.4,
        ("roid", "continual"): 0.2,
        ("roid", "mixed"): 0.25,
        ("tent", "continual"): 0.3,
        ("tent", "mixed"): 0.6,
    }
    sources = {"continual": 0.5, "mixed": 0.4}
    return [
        done(
            spec(method, scenario=scenario, seed=seed),
            error + 0.01 * seed,
            multiple=1.0 if method == "source" else 3.0,
            source_error=sources[scenario] + 0.01 * seed,
        )
        for (method, scenario), error in errors.items()
        for seed in seeds
    ]


def write(folder: Path, results: Iterable[RunResult]) -> Path:
    store = RunStore(folder)
    for result in results:
        store.put(result)
    return folder


def write_images(folder: Path) -> None:
    """A red and a blue image, for the two domains."""
    images = {"fog": png(4, 4, 16 * b"\xff\0\0"), "snow": png(4, 4, 16 * b"\0\0\xff")}
    ExampleFiles(folder).put(Shown("shapes", 5), images)
