"""What a load test sends: seeded requests of streams with correlated classes, and hostile ones."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from trimtab.server.client import encoded
from trimtab.server.protocol import HEADER_LENGTH
from trimtab.server.tensors import Array

CLASSES = 10
STAY = 0.9
"""Probability that a sample is of the class of the one before it."""


@dataclass(frozen=True)
class Traffic:
    """How much is sent, and what.

    Args:
        streams: Streams at a time.
        life: Requests of a stream, on average, before another one takes its place.
        samples: Samples in a request.
        hostile: Share of requests that are meant to be refused.
    """

    streams: int = 64
    life: int = 50
    samples: int = 1
    hostile: float = 0.02
    seed: int = 0


@dataclass(frozen=True)
class Message:
    """One request; ``hostile`` says what is wrong with it."""

    stream: str
    body: bytes
    headers: dict[str, str]
    hostile: str | None = None


def lane(traffic: Traffic, place: int, shape: tuple[int, ...], run: str) -> Iterator[Message]:
    """Requests without end of one stream after the other.

    Args:
        place: Of this lane among those that send at a time.
        run: Makes ids of this run differ from those of others.
    """
    draw = random.Random(traffic.seed * 1_000_003 + place)
    noise = np.random.default_rng([traffic.seed, place])
    pictures = _pictures(traffic.seed, shape)
    for life in range(2**31):
        stream, kind = f"load-{run}-{place}-{life}", draw.randrange(CLASSES)
        length = 1 + int(draw.expovariate(1 / traffic.life))
        for number in range(1, length + 1):
            if draw.random() < traffic.hostile:
                yield _hostile(draw, stream, shape)
            kinds = []
            for _ in range(traffic.samples):
                kind = kind if draw.random() < STAY else draw.randrange(CLASSES)
                kinds.append(kind)
            samples = pictures[kinds] + 0.1 * noise.standard_normal((len(kinds), *shape))
            yield _message(stream, samples.clip(0, 1).astype(np.float32), number, number == length)


def _pictures(
    seed: int, shape: tuple[int, ...]
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """One picture a class."""
    return np.random.default_rng(seed).random((CLASSES, *shape))


def _message(stream: str, samples: Array, number: int, end: bool) -> Message:
    parameters = {"sequence_id": stream, "number": number, "binary_data_output": True}
    if end:
        parameters["sequence_end"] = True
    body, length = encoded(samples, parameters)
    return Message(stream, body, {HEADER_LENGTH: str(length)})


def _hostile(draw: random.Random, stream: str, shape: tuple[int, ...]) -> Message:
    """Something that every server has to refuse, and that must not disturb the stream."""
    kind = draw.choice(("garbage", "wrong shape", "not finite", "strange id", "cut short"))
    samples = np.zeros((1, *shape), np.float32)
    if kind == "garbage":
        return Message(stream, bytes(draw.randrange(256) for _ in range(200)), {}, kind)
    if kind == "wrong shape":
        samples = samples[..., :-1] if shape[-1] > 1 else np.zeros((1, *shape, 2), np.float32)
    if kind == "not finite":
        samples[0, ...] = np.nan
    name = "../../etc/passwd" if kind == "strange id" else stream
    body, length = encoded(samples, {"sequence_id": name, "number": 2**40})
    if kind == "cut short":
        body = body[:-3]
    return Message(stream, body, {HEADER_LENGTH: str(length)}, kind)


def described(traffic: Traffic) -> str:
    """The traffic in a line of JSON."""
    return json.dumps(vars(traffic))
