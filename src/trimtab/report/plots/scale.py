"""From numbers to places on a plot, and the round numbers to write at an axis."""

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """Maps ``low`` to ``start`` and ``high`` to ``end``.

    Args:
        low: The smallest number of the axis.
        high: The largest.
        start: Where ``low`` is drawn, in pixels.
        end: Where ``high`` is drawn, in pixels.
        doubling: Whether equal steps stand for equal factors.
        about: How many ticks there is room for.
        at: Ticks to have instead of round numbers.
    """

    low: float
    high: float
    start: float
    end: float
    doubling: bool = False
    about: int = 5
    at: tuple[float, ...] = ()

    def __call__(self, value: float) -> float:
        low, high = self.low, self.high
        if self.doubling:
            low, high, value = math.log2(low), math.log2(high), math.log2(value)
        return self.start + (value - low) / (high - low) * (self.end - self.start)

    @property
    def ticks(self) -> list[float]:
        """Those that were asked for, or round numbers from ``low`` to ``high``."""
        if self.at:
            return list(self.at)
        if self.doubling:
            return doublings(self.low, self.high)
        return ticks(self.low, self.high, self.about)


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten within the range, about as many as asked."""
    step = _round_step((high - low) / about)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(index * step, 10) for index in range(first, last + 1)]


def doublings(low: float, high: float) -> list[float]:
    """Powers of two within the range; every second one if they are many."""
    first, last = math.ceil(math.log2(low) - 1e-9), math.floor(math.log2(high) + 1e-9)
    stride = 1 if last - first < 6 else 2
    return [2.0**power for power in range(first, last + 1, stride)]


def span(values: Iterable[float], least: float = 1.0) -> tuple[float, float]:
    """A range with round ends around the values, at least ``least`` wide."""
    numbers = list(values)
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    missing = max(0.0, least - (high - low)) / 2
    low, high = low - missing, high + missing
    step = _round_step((high - low) / 6)
    return math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step


def doubling_span(values: Iterable[float]) -> tuple[float, float]:
    """A range for positive values, a little wider than they are, at least one doubling wide."""
    numbers = [value for value in values if value > 0] or [1.0]
    low, high = min(numbers) / 1.15, max(numbers) * 1.15
    return low, max(high, 2.3 * low)


def _round_step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return min((1, 2, 5, 10), key=lambda factor: abs(math.log(factor * power / rough))) * power
