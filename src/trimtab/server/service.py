"""One served model: its streams, the rounds that compute them, and what watches both."""

import asyncio
import time
from typing import Any

import torch

from trimtab.fleets.fleet import Fleet
from trimtab.server.errors import RequestError, too_many
from trimtab.server.journal import Journal
from trimtab.server.limits import Bucket
from trimtab.server.live import Live
from trimtab.server.metrics import Metrics
from trimtab.server.protocol import InferRequest
from trimtab.server.rounds import Rounds
from trimtab.server.settings import ANONYMOUS, Settings
from trimtab.server.store import Store
from trimtab.server.streams import Streams
from trimtab.server.work import Errand, Outcome, Work

MOST_BUCKETS = 100_000


class Service:
    """Answers requests for one model.

    Args:
        fleet: Its streams step together; nobody else may use it meanwhile.
        store: Where states are kept; None keeps them in memory alone.
        journal: Where rounds are noted, for those who want to replay them.
    """

    def __init__(
        self,
        fleet: Fleet,
        settings: Settings,
        store: Store | None = None,
        journal: Journal | None = None,
    ) -> None:
        self.settings = settings
        self.metrics = Metrics(settings.model, settings.method)
        self.live = Live()
        self.streams = Streams(fleet, store, settings.limits, settings.saving, journal)
        self.streams.on_event = self.live.happened
        self.streams.on_accuracy = self.live.looked
        self.rounds = Rounds(
            self.streams,
            max_batch=settings.max_batch,
            max_delay_seconds=settings.max_delay_seconds,
            on_round=self.metrics.computed,
        )
        self.metrics.watch(self.rounds)
        self.is_ready = False
        self.began = time.time()
        self._buckets: dict[str, Bucket] = {}

    def start(self) -> None:
        """Begin to compute, on the event loop that runs now."""
        self.rounds.start()
        self.is_ready = True

    async def stop(self) -> None:
        """Compute what waits, and save every stream."""
        await asyncio.to_thread(self.finish)

    def finish(self) -> None:
        """The same for callers that may block."""
        self.is_ready = False
        self.rounds.finish()
        if self.streams.store is not None:
            self.streams.store.close()
        if self.streams.journal is not None:
            self.streams.journal.close()

    def stream_of(self, request: InferRequest) -> str | None:
        """The stream that answers a request; None for the source model."""
        if request.stream is None and self.settings.anonymous == "stream":
            return ANONYMOUS
        return request.stream

    async def infer(self, request: InferRequest) -> Outcome:
        """Logits of a request's samples, and what its stream learned."""
        stream, samples = self.stream_of(request), len(request.inputs)
        self._check_shape(request)
        if stream is not None:
            self._check_rate(stream, samples)
        return await self.rounds.do(
            Work(
                stream,
                torch.from_numpy(request.inputs),
                number=request.number,
                after=request.after,
                learn=request.learn,
                start=request.start,
                end=request.end,
            )
        )

    async def errand(self, stream: str, do: Any) -> Any:
        """What ``do()`` returns, called in the computing thread in the stream's turn."""
        return (await self.rounds.do(Errand(stream, do))).value

    def _check_shape(self, request: InferRequest) -> None:
        shape, limit = request.inputs.shape, self.settings.limits.request_samples
        if tuple(shape[1:]) != self.settings.sample_shape:
            expected = ", ".join(str(size) for size in ("batch", *self.settings.sample_shape))
            raise RequestError(400, f"inputs must have shape ({expected}), got {list(shape)}")
        if shape[0] > limit:
            raise RequestError(413, f"a request may have {limit} samples, got {shape[0]}; split it")

    def _check_rate(self, stream: str, samples: int) -> None:
        rate = self.settings.limits.samples_per_second
        if rate is None:
            return
        if len(self._buckets) >= MOST_BUCKETS:
            self._buckets.clear()
        seconds = self._buckets.setdefault(stream, Bucket(rate)).take(samples)
        if seconds:
            raise too_many(f"this stream may send {rate:g} samples per second", seconds)
