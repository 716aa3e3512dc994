"""What clients ask of streams, and what comes of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from trimtab.server.errors import RequestError


@dataclass(frozen=True)
class Work:
    """One request's samples, as ``InferRequest`` says; no stream means the source model."""

    stream: str | None
    inputs: Tensor
    number: int | None = None
    after: int | None = None
    learn: bool = True
    start: bool = False
    end: bool = False

    @property
    def samples(self) -> int:
        return len(self.inputs)


@dataclass(frozen=True)
class Errand:
    """Something else to do with a stream, in its turn: a reset, a look at its state."""

    stream: str
    do: Callable[[], Any]
    samples: int = 0


@dataclass(frozen=True)
class Outcome:
    """Logits, (batch, classes), and what happened to the stream; or what an errand returned."""

    value: Any
    parameters: dict[str, Any]


Result = Outcome | RequestError
