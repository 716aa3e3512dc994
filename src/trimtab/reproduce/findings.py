"""What the runs and studies of an experiment found, and ways to ask for it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from trimtab.bench.result import RunResult, Scores
from trimtab.report.averages import mean, spread
from trimtab.report.metrics import Metric
from trimtab.reproduce.setup import Setup
from trimtab.reproduce.study import Record, Study


@dataclass(frozen=True)
class Findings:
    """Results that are there.

    Args:
        setup: What they were asked for on.
        results: Runs that are done, in the order they were asked for.
        records: Studies that are done.
    """

    setup: Setup
    results: tuple[RunResult, ...]
    records: tuple[tuple[Study, Record], ...] = field(default=())

    def where(self, **fields: Any) -> "Findings":
        """Those runs whose spec has these values; ``label`` is a method with its options."""
        kept = [r for r in self.results if _fits(r, fields)]
        return replace(self, results=tuple(kept))

    def values(self, metric: Metric | None = None) -> list[float]:
        """A number of every run, one a seed; by default the error as the paper averages it."""
        found = [(metric or self.setup.metric).read(result) for result in self.results]
        return [value for value in found if value is not None]

    def mean(self, metric: Metric | None = None) -> float | None:
        """The mean over the runs, None without any."""
        return mean(self.values(metric))

    def spread(self, metric: Metric | None = None) -> float | None:
        """The standard deviation over the runs, None below two."""
        return spread(self.values(metric))

    def mean_of(self, read: Callable[[Scores], float]) -> float | None:
        """The mean of something read off each run's scores."""
        return mean(read(result.scores) for result in self.results if result.scores is not None)

    def distinct(self, field_name: str) -> list[Any]:
        """The values that a field of the specs takes, in order of appearance."""
        return list(dict.fromkeys(_value(result, field_name) for result in self.results))


def _fits(result: RunResult, fields: Mapping[str, Any]) -> bool:
    return all(_value(result, name) == value for name, value in fields.items())


def _value(result: RunResult, name: str) -> Any:
    return getattr(result.spec, name)
