"""Exactly-once delivery of a stream's requests, whatever happens to the server."""

import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from trimtab.server.client import Answer, Client, ServerError

PAUSE_SECONDS = 0.2
MOST_KEPT = 4096

Result = TypeVar("Result")


class Sent(NamedTuple):
    """A request that may have to be sent again."""

    number: int
    samples: "np.ndarray[Any, Any]"


class Follower:
    """Sends one stream's samples in order, and again what a crash of the server has lost.

    Keeps requests until the server calls them durable.

    Args:
        patience: Seconds to wait for a server that does not answer.

    Attributes:
        durable_through: Number of the last request that the server has called durable.
    """

    def __init__(self, client: Client, stream: str, *, patience: float = 60.0) -> None:
        self.client, self.stream, self.patience = client, stream, patience
        self._kept: deque[Sent] = deque(maxlen=MOST_KEPT)
        self._last = self._patiently(self._learned_through) or 0
        self.durable_through = self._last

    def __call__(self, samples: ArrayLike) -> "np.ndarray[Any, Any]":
        """Logits of the next batch of the stream, (batch, classes).

        After an error, call again with the same batch: it is learned from once, whether the server
        has got it already or not.
        """
        sent = Sent(self._last + 1, np.asarray(samples).copy())  # whose buffer may be used again
        answer = self._patiently(lambda: self._delivered(sent))
        self._kept.append(sent)
        self._last = sent.number
        self._drop(answer.durable_through)
        return answer.logits

    def _patiently(self, do: Callable[[], Result]) -> Result:
        """What ``do()`` returns, tried again while the server does not answer."""
        until = time.monotonic() + self.patience
        while True:
            try:
                return do()
            except ConnectionError:
                if time.monotonic() > until:
                    raise
                time.sleep(PAUSE_SECONDS)

    def _delivered(self, sent: Sent) -> Answer:
        """The answer to a request; before it, those that got lost are sent again."""
        try:
            return self._send(sent)
        except ServerError as error:
            if error.status != 409:
                raise
        self._send_lost_ones(sent.number)
        return self._send(sent)

    def _send(self, sent: Sent) -> Answer:
        number = sent.number
        return self.client.infer(sent.samples, stream=self.stream, number=number, after=number - 1)

    def _send_lost_ones(self, before: int) -> None:
        """Send again what came after the state that the server has."""
        first = (self._learned_through() or 0) + 1
        lost = [sent for sent in self._kept if first <= sent.number < before]
        if [sent.number for sent in lost] != list(range(first, before)):
            raise ServerError(409, f"the server has lost requests from {first} on, kept no more")
        for sent in lost:
            self._send(sent)

    def _learned_through(self) -> int | None:
        try:
            found: int | None = self.client.stream(self.stream)["learned_through"]
        except ServerError as error:
            if error.status != 404:
                raise
            return None
        return found

    def _drop(self, durable_through: int | None) -> None:
        self.durable_through = max(self.durable_through, durable_through or 0)
        while self._kept and self._kept[0].number <= self.durable_through:
            self._kept.popleft()
