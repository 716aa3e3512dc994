"""Sends the traffic: as many connections as streams, each waiting for its answers."""

import asyncio
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import httpx

from trimtab.server.load.traffic import Message, Traffic, lane

RETRIES = 50


@dataclass
class Outcome:
    """What a run brought; latencies and ``at`` in seconds, of honest requests answered."""

    seconds: float = 0.0
    samples: int = 0
    latencies: list[float] = field(default_factory=list)
    at: list[float] = field(default_factory=list)
    statuses: dict[str, int] = field(default_factory=dict)
    hostile: dict[str, int] = field(default_factory=dict)
    broken: int = 0
    streams: int = 0


async def drive(
    url: str,
    model: str,
    shape: tuple[int, ...],
    traffic: Traffic,
    *,
    most_requests: int,
    most_seconds: float,
    token: str | None = None,
    lanes: list[Iterator[Message]] | None = None,
    pause_seconds: float = 0.0,
) -> Outcome:
    """Send until so many requests or seconds are used up, whichever comes first.

    Args:
        pause_seconds: How long a stream waits after an answer before it sends again.
        lanes: What earlier calls have begun to send; None begins anew.
    """
    outcome = Outcome()
    lanes = lanes or new_lanes(traffic, shape)
    began = time.monotonic()
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    left = [most_requests]
    limits = httpx.Limits(max_connections=traffic.streams)
    async with httpx.AsyncClient(base_url=url, headers=headers, limits=limits, timeout=60) as http:
        sender = _Sender(http, f"/v2/models/{model}/infer", outcome, began, traffic.samples)
        sender.pause_seconds = pause_seconds
        await asyncio.gather(*(sender.follow(one, left, most_seconds) for one in lanes))
    outcome.seconds = time.monotonic() - began
    return outcome


def new_lanes(traffic: Traffic, shape: tuple[int, ...]) -> list[Iterator[Message]]:
    """Each connection's requests, of streams that no other run has."""
    run = secrets.token_hex(3)
    return [lane(traffic, place, shape, run) for place in range(traffic.streams)]


class _Sender:
    def __init__(
        self, http: httpx.AsyncClient, path: str, outcome: Outcome, began: float, samples: int
    ) -> None:
        self.http, self.path, self.outcome = http, path, outcome
        self.began, self.samples = began, samples
        self.pause_seconds = 0.0

    async def follow(
        self, messages: Iterator[Message], left: list[int], most_seconds: float
    ) -> None:
        """Send one lane's messages, each after the answer to the one before."""
        seen: set[str] = set()
        for message in messages:
            if left[0] <= 0 or time.monotonic() - self.began > most_seconds:
                break
            left[0] -= 1
            seen.add(message.stream)
            await self._send(message)
            await asyncio.sleep(self.pause_seconds)
        self.outcome.streams += len(seen)

    async def _send(self, message: Message) -> None:
        for _ in range(RETRIES):
            sent = time.monotonic()
            try:
                told = await self.http.post(
                    self.path, content=message.body, headers=message.headers
                )
            except httpx.TransportError:
                self.outcome.broken += 1
                return
            self._note(message, told.status_code, time.monotonic() - sent)
            if told.status_code != 429:
                return
            await asyncio.sleep(float(told.headers.get("Retry-After", 1)))

    def _note(self, message: Message, status: int, latency: float) -> None:
        outcome, key = self.outcome, str(status)
        if message.hostile is not None:
            kind = f"{message.hostile}: {status}"
            outcome.hostile[kind] = outcome.hostile.get(kind, 0) + 1
            return
        outcome.statuses[key] = outcome.statuses.get(key, 0) + 1
        if status == 200:
            outcome.samples += self.samples
            outcome.latencies.append(latency)
            outcome.at.append(time.monotonic() - self.began)
