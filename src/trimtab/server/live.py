"""Throughput and latency along time: the last minutes, second by second, and what happened."""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

SECONDS = 300
EVENTS = 100
MOST_LATENCIES = 1000


@dataclass
class Second:
    """What was answered within one second; ``latencies`` are those of requests, in seconds."""

    at: int
    samples: int = 0
    requests: int = 0
    errors: int = 0
    latencies: list[float] = field(default_factory=list)

    def summary(self) -> dict[str, Any]:
        """As the live page draws it; latencies in milliseconds, None where all was refused."""
        median, late = (
            round(1000 * percentile(self.latencies, percent), 2) if self.latencies else None
            for percent in (50, 99)
        )
        return {
            "at": self.at,
            "samples": self.samples,
            "requests": self.requests,
            "errors": self.errors,
            "median_ms": median,
            "p99_ms": late,
        }


class Live:
    """A ring of seconds and one of events."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._seconds: deque[Second] = deque(maxlen=SECONDS)
        self._health: deque[dict[str, float]] = deque(maxlen=SECONDS)
        self._events: deque[dict[str, Any]] = deque(maxlen=EVENTS)
        self._lock = threading.Lock()

    def answered(self, samples: int, latency: float, failed: bool) -> None:
        """Note an answer to a request for predictions."""
        with self._lock:
            second = self._current()
            second.requests += 1
            second.errors += failed
            second.samples += 0 if failed else samples
            if not failed and len(second.latencies) < MOST_LATENCIES:
                second.latencies.append(latency)

    def happened(self, stream: str, what: str) -> None:
        """Note an event of a stream."""
        with self._lock:
            self._events.append({"at": round(self._now(), 1), "stream": stream, "what": what})

    def looked(self, accuracy: float, source_accuracy: float) -> None:
        """Note estimated accuracies, shares, of the adapted models and of the source model."""
        point = {"accuracy": round(accuracy, 4), "source_accuracy": round(source_accuracy, 4)}
        with self._lock:
            self._health.append({"at": round(self._now(), 1), **point})

    def health(self) -> list[dict[str, float]]:
        """Estimated accuracies along time, oldest first."""
        with self._lock:
            return list(self._health)

    def _current(self) -> Second:
        at = int(self._now())
        if not self._seconds or self._seconds[-1].at != at:
            self._seconds.append(Second(at))
        return self._seconds[-1]

    def seconds(self) -> list[dict[str, Any]]:
        """All seconds of the ring in which something was answered, oldest first."""
        since = self._now() - SECONDS
        with self._lock:
            return [second.summary() for second in self._seconds if second.at >= since]

    def events(self) -> list[dict[str, Any]]:
        """Latest first."""
        with self._lock:
            return list(reversed(self._events))


def percentile(values: Sequence[float], percent: float) -> float:
    """The value below which so many percent lie (nearest rank); 0 without values."""
    if not values:
        return 0.0
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]
