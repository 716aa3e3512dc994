"""Mean and standard deviation of numbers that may be missing."""

import statistics
from collections.abc import Iterable


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of those values that are there, None without any."""
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def spread(values: Iterable[float | None]) -> float | None:
    """The standard deviation (of a sample: n - 1) of those that are there, None below two."""
    known = [value for value in values if value is not None]
    return statistics.stdev(known) if len(known) > 1 else None
