"""HTTP client: numpy in, numpy out. Any other Open Inference Protocol client does as well."""

import json
import re
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import httpx
import numpy as np
from numpy.typing import ArrayLike

from trimtab.server.protocol import HEADER_LENGTH
from trimtab.server.tensors import INPUT_TYPES, Array

_NAMES = {dtype.newbyteorder("="): name for name, dtype in INPUT_TYPES.items()}


class ServerError(Exception):
    """What the server said no to, with its HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status


class Answer(NamedTuple):
    """What a request brought.

    Args:
        logits: (batch, classes) float32.
        learned: Whether the stream learned from the request.
        learned_through: Number of the last request that the stream has learned from.
        durable_through: The same for what would survive if the server were killed now.
    """

    logits: Array
    learned: bool
    learned_through: int | None
    durable_through: int | None


class Client:
    """Talks to one model of a server.

    Args:
        url: Of the server, such as ``http://127.0.0.1:8080``.
        model: Its name; by default the one that the server serves.
        token: Bearer token, where the server asks for one.
        patience: Seconds for which to try again while the server has too much to do (429, 503).
    """

    def __init__(
        self,
        url: str,
        model: str | None = None,
        *,
        token: str | None = None,
        patience: float = 30.0,
        timeout: float = 60.0,
    ) -> None:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._http = httpx.Client(base_url=url, headers=headers, timeout=timeout)
        self._patience = patience
        self.model: str = model or self.live()["model"]

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connections."""
        self._http.close()

    # ---------------------------------------------------------------- predictions

    def infer(
        self,
        samples: ArrayLike,
        *,
        stream: str | None = None,
        number: int | None = None,
        after: int | None = None,
        learn: bool = True,
        start: bool = False,
        end: bool = False,
    ) -> Answer:
        """Logits of a batch, (batch, classes).

        Args:
            samples: (batch, ...), float or, for images from 0 to 255, uint8.
            stream: The stream that they belong to; None for the server's default.
            number: Place of this request in the stream, rising: sent again, it is learned from
                once.
            after: Number that the stream must have learned through already; error 409 otherwise.
            learn: Whether the stream may learn from them.
            start: Begin the stream anew.
            end: The stream's state may leave the server's memory.
        """
        asked = {
            "sequence_id": stream,
            "number": number,
            "after": after,
            "sequence_start": start or None,
            "sequence_end": end or None,
            "learn": None if learn else False,
            "binary_data_output": True,
        }
        parameters = {name: value for name, value in asked.items() if value is not None}
        body, length = encoded(np.asarray(samples), parameters)
        headers = {HEADER_LENGTH: str(length), "Content-Type": "application/octet-stream"}
        path = f"/v2/models/{self.model}/infer"
        return _decoded(self._send("POST", path, content=body, headers=headers))

    # ---------------------------------------------------------------- streams

    def streams(self) -> list[dict[str, Any]]:
        """All streams that this token owns, in short."""
        found: list[dict[str, Any]] = []
        more = True
        while more:
            after = found[-1]["id"] if found else ""
            told = self._json("GET", self._path(), params={"after": after, "limit": 1000})
            found += told["streams"]
            more = told["more"]
        return found

    def stream(self, stream: str) -> dict[str, Any]:
        """What a stream has done, believes and remembers."""
        return self._json("GET", self._path(stream))

    def delete(self, stream: str) -> None:
        """Have a stream forgotten for good."""
        self._json("DELETE", self._path(stream))

    def reset(self, stream: str) -> dict[str, Any]:
        """Have a stream begin again from the source model."""
        return self._json("POST", self._path(stream, "reset"))

    def snapshot(self, stream: str, name: str | None = None) -> dict[str, Any]:
        """Have a copy of a stream's state kept in memory."""
        words = {} if name is None else {"name": name}
        return self._json("POST", self._path(stream, "snapshot"), json=words)

    def rollback(self, stream: str, to: str | None = None) -> dict[str, Any]:
        """Have a stream go back to a snapshot, by default the latest."""
        words = {} if to is None else {"to": to}
        return self._json("POST", self._path(stream, "rollback"), json=words)

    def freeze(self, stream: str, frozen: bool = True) -> dict[str, Any]:
        """Have a stream learn no more, or learn again."""
        return self._json("POST", self._path(stream, "freeze"), json={"frozen": frozen})

    def live(self) -> dict[str, Any]:
        """Throughput and latency of the last minutes, and what happened."""
        return self._json("GET", "/live")

    def sample_shape(self) -> tuple[int, ...]:
        """Shape of one sample that the model takes."""
        metadata = self._json("GET", f"/v2/models/{self.model}")
        return tuple(metadata["inputs"][0]["shape"][1:])

    def _path(self, *parts: str) -> str:
        return "/".join((f"/v2/models/{self.model}/streams", *parts))

    # ---------------------------------------------------------------- HTTP

    def _json(self, verb: str, path: str, **options: Any) -> dict[str, Any]:
        told: dict[str, Any] = self._send(verb, path, **options).json()
        return told

    def _send(self, verb: str, path: str, **options: Any) -> httpx.Response:
        until = time.monotonic() + self._patience
        while True:
            try:
                response = self._http.request(verb, path, **options)
            except httpx.TransportError as error:
                said = str(error) or type(error).__name__
                raise ConnectionError(f"no answer from {self._http.base_url}: {said}") from error
            wait = _seconds(response.headers.get("Retry-After", "1"))
            busy = response.status_code in (429, 503)
            if not busy or time.monotonic() + wait > until:
                break
            time.sleep(wait)
        if response.is_success:
            return response
        raise ServerError(response.status_code, _said(response))


def _seconds(asked: str) -> float:
    """How long to wait, as a server says; a second where something between names a date."""
    return float(asked) if re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)?", asked) else 1.0


def _said(response: httpx.Response) -> str:
    try:
        return str(response.json()["error"])
    except (ValueError, KeyError, TypeError):
        return response.text[:200]


def encoded(samples: np.ndarray[Any, Any], parameters: Mapping[str, Any]) -> tuple[bytes, int]:
    """Body of a request with binary data, and how many bytes of it are JSON."""
    if samples.dtype not in _NAMES:
        samples = samples.astype(np.float32)
    name = _NAMES[samples.dtype]
    raw = np.ascontiguousarray(samples, INPUT_TYPES[name]).tobytes()
    tensor = {
        "name": "images",
        "shape": list(samples.shape),
        "datatype": name,
        "parameters": {"binary_data_size": len(raw)},
    }
    head = json.dumps({"parameters": dict(parameters), "inputs": [tensor]}).encode()
    return head + raw, len(head)


def _decoded(response: httpx.Response) -> Answer:
    length = int(response.headers[HEADER_LENGTH])
    told = json.loads(response.content[:length])
    values = np.frombuffer(response.content[length:], np.dtype("<f4")).astype(np.float32)
    known = told.get("parameters", {})
    return Answer(
        values.reshape(told["outputs"][0]["shape"]),
        known.get("learned", False),
        known.get("learned_through"),
        known.get("durable_through"),
    )
