"""Dynamic batching: requests that arrive within a few milliseconds are one fleet step.

One thread computes. The event loop hands requests over and is told of results; it never waits.
"""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from trimtab.server.errors import RequestError, too_many
from trimtab.server.step import step
from trimtab.server.streams import Streams
from trimtab.server.work import Errand, Outcome, Result, Work

log = logging.getLogger("trimtab.server")

TIDY_SECONDS = 1.0

LATEST = 4
"""Rounds whose streams are expected to send again soon."""


class Item(NamedTuple):
    """A request that waits, and who waits for it."""

    task: Work | Errand
    future: "asyncio.Future[Any]"
    arrived: float


@dataclass(frozen=True)
class Round:
    """What a round was: samples and streams in it, seconds of waiting and of computing."""

    samples: int
    streams: int
    waited: float
    seconds: float


class Rounds:
    """Gathers requests and computes them, round by round, in a thread.

    A round takes the first waiting request of each stream, so the order within a stream is kept.
    It begins once half of the streams of the latest rounds have sent something, so that one half
    is read and answered while the other is computed, and a client alone never waits; or after
    ``max_delay_seconds`` and half of a round's time.

    Args:
        max_batch: Most samples in a round; a larger request is a round of its own.
        max_delay_seconds: How long the first request waits for others, beside half of the time
            that computing a round takes.
        on_round: Told of each round, in the computing thread.
    """

    def __init__(
        self,
        streams: Streams,
        *,
        max_batch: int = 64,
        max_delay_seconds: float = 0.005,
        on_round: Callable[[Round], None] = lambda done: None,
    ) -> None:
        self.streams = streams
        self.max_batch, self.max_delay_seconds = max_batch, max_delay_seconds
        self.queued_samples = 0
        self._on_round = on_round
        self._waiting: dict[str | None, deque[Item]] = {}
        self._first_samples = 0
        self._seconds_per_sample = self._round_seconds = 0.0
        self._latest: deque[set[str | None]] = deque(maxlen=LATEST)
        self._expected = 0
        self._wake = threading.Condition()
        self._draining = False
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    # ---------------------------------------------------------------- the event loop's side

    def start(self) -> None:
        """Begin to compute; results go to the event loop that runs now."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, name="trimtab-compute", daemon=True)
        self._thread.start()

    async def drain(self) -> None:
        """Compute what waits, save every stream, and end."""
        await asyncio.to_thread(self.finish)

    def finish(self) -> None:
        """The same for callers that may block."""
        with self._wake:
            self._draining = True
            self._wake.notify()
        assert self._thread is not None
        self._thread.join()

    async def do(self, task: Work | Errand) -> Outcome:
        """What comes of a task in its turn; ``RequestError`` where there are too many."""
        assert self._loop is not None
        future: asyncio.Future[Result] = self._loop.create_future()
        self._admit(Item(task, future, time.monotonic()))
        result = await future
        if isinstance(result, RequestError):
            raise result
        return result

    def _admit(self, item: Item) -> None:
        limits, samples = self.streams.limits, item.task.samples
        with self._wake:
            if self._draining:
                raise RequestError(503, "the server is shutting down", {"Retry-After": "5"})
            queue = self._waiting.get(item.task.stream, ())
            full = len(queue) >= limits.queued_requests_per_stream and item.task.stream is not None
            if full or self.queued_samples + samples > limits.queued_samples:
                what = "requests of this stream" if full else "samples"
                seconds = self.queued_samples * self._seconds_per_sample
                raise too_many(f"too many {what} are waiting; try again later", seconds)
            self.queued_samples += samples
            if not queue:
                self._waiting[item.task.stream] = deque()
                self._first_samples += samples
            self._waiting[item.task.stream].append(item)
            if len(self._waiting) == 1 or self._is_full():
                self._wake.notify()

    # ---------------------------------------------------------------- the computing thread's side

    def _run(self) -> None:
        tidied = time.monotonic()
        while True:
            items = self._next_round()
            if items:
                self._compute(items)
            elif self._draining:
                break
            if time.monotonic() - tidied > TIDY_SECONDS:
                self._tidy()
                tidied = time.monotonic()
        self.streams.save_all()

    def _tidy(self) -> None:
        try:
            self.streams.tidy()
        except OSError:
            log.exception("streams could not be tidied up")

    def _next_round(self) -> list[Item]:
        """The requests of the next round; none after a while without any."""
        with self._wake:
            self._wake.wait_for(lambda: self._waiting or self._draining, TIDY_SECONDS)
            if not self._waiting:
                return []
            self._wake.wait_for(self._is_full, self._patience())
            return self._chosen()

    def _is_full(self) -> bool:
        enough = 0 < self._expected <= 2 * len(self._waiting)
        return self._draining or enough or self._first_samples >= self.max_batch

    def _patience(self) -> float:
        oldest = min(queue[0].arrived for queue in self._waiting.values())
        delay = self.max_delay_seconds + self._round_seconds / 2
        return max(0.0, oldest + delay - time.monotonic())

    def _chosen(self) -> list[Item]:
        """First come, first served: of each stream one, for the source model as many as fit.

        Streams that would learn from a window, which takes as long as predicting many samples,
        take turns: the others need not wait until windows that fill at one time are all learned.
        """
        chosen: list[Item] = []
        room = learning = self.max_batch
        for stream in list(self._waiting):
            queue = self._waiting[stream]
            learned = self._learned_samples(queue[0].task)
            if learned and learned > learning and learning < self.max_batch:
                continue
            while queue and (queue[0].task.samples <= room or not chosen):
                chosen.append(queue.popleft())
                room -= chosen[-1].task.samples
                learning -= learned
                if stream is not None:
                    break
        self.queued_samples -= sum(item.task.samples for item in chosen)
        self._to_the_end({item.task.stream for item in chosen})
        return chosen

    def _learned_samples(self, task: Work | Errand) -> int:
        """Samples of a window that is learned from with this request; 0 without one."""
        learns = isinstance(task, Work) and task.stream is not None and task.learn
        return self.streams.window_filled_by(task.stream, task.samples) if learns else 0

    def _to_the_end(self, served: set[str | None]) -> None:
        """Streams that were served wait behind those that were not."""
        for stream in served:
            queue = self._waiting.pop(stream)
            if queue:
                self._waiting[stream] = queue
        self._first_samples = sum(queue[0].task.samples for queue in self._waiting.values())

    def _compute(self, items: list[Item]) -> None:
        began = time.monotonic()
        errands = [item for item in items if isinstance(item.task, Errand)]
        results = [(item.future, _run_errand(item.task)) for item in errands]
        works = [item for item in items if isinstance(item.task, Work)]
        results += zip((item.future for item in works), self._stepped(works), strict=True)
        self._deliver(results)
        if works:
            self._report(works, began)

    def _stepped(self, items: list[Item]) -> list[Result]:
        works = [item.task for item in items if isinstance(item.task, Work)]
        try:
            return step(self.streams, works) if works else []
        except Exception:
            log.exception("a round failed")
            return [RequestError(500, "the step failed and nothing was learned") for _ in works]

    def _deliver(self, results: list[tuple["asyncio.Future[Any]", Result]]) -> None:
        def deliver() -> None:
            for future, result in results:
                if not future.done():
                    future.set_result(result)

        assert self._loop is not None
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(deliver)

    def _report(self, items: list[Item], began: float) -> None:
        samples = sum(item.task.samples for item in items)
        seconds = time.monotonic() - began
        recent = seconds / samples
        self._seconds_per_sample += 0.1 * (recent - self._seconds_per_sample)
        self._round_seconds += 0.1 * (seconds - self._round_seconds)
        self._latest.append({item.task.stream for item in items})
        self._expected = len(set().union(*self._latest))
        waited = began - min(item.arrived for item in items)
        self._on_round(Round(samples, len(items), waited, seconds))


def _run_errand(task: Work | Errand) -> Result:
    assert isinstance(task, Errand)
    try:
        return Outcome(task.do(), {})
    except RequestError as refused:
        return refused
    except Exception as error:
        log.exception("an errand failed", extra={"stream": task.stream})
        return RequestError(500, f"{type(error).__name__}: {error}")
