"""Rate limits and other bounds, so that no client can take all of the server."""

import time
from collections.abc import Callable
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Limits:
    """What a client may ask for.

    Args:
        body_bytes: Most bytes of a request's body.
        body_seconds: Most seconds that a body may take to arrive.
        request_samples: Most samples in one request.
        queued_samples: Most samples that wait; more are refused with 429.
        queued_requests_per_stream: Most requests of one stream that wait.
        streams: Most streams that are known, in memory and in the store.
        resident: Most streams in memory; those used longest ago are in the store alone.
        samples_per_second: Of one stream, on average; None for any.
        idle_seconds: A stream that was not used for so long leaves the memory.
        forget_seconds: A stream that was not used for so long is forgotten; None for never.
    """

    body_bytes: int = 64 * 2**20
    body_seconds: float = 30.0
    request_samples: int = 256
    queued_samples: int = 4096
    queued_requests_per_stream: int = 64
    streams: int = 100_000
    resident: int = 4096
    samples_per_second: float | None = None
    idle_seconds: float = 600.0
    forget_seconds: float | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and not value > 0:
                raise ValueError(f"{field.name} must be above 0, got {value}")


class Bucket:
    """A token bucket: so many samples per second on average, two seconds' worth at once."""

    def __init__(self, rate: float, now: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self._now = now
        self._left = self._most = max(1.0, 2 * rate)
        self._since = now()

    def take(self, samples: int) -> float:
        """0.0 and the samples are taken, or the seconds after which they would be there.

        A request of more samples than there ever are at once is let through by a full bucket, and
        those after it wait for longer.
        """
        now = self._now()
        self._left = min(self._most, self._left + (now - self._since) * self.rate)
        self._since = now
        needed = min(float(samples), self._most)
        if self._left < needed:
            return (needed - self._left) / self.rate
        self._left -= samples
        return 0.0
