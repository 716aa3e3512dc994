"""Which processes take a stream's calls: by default this one alone.

Several that share a stream (``trimtab.distributed``) put their batches together at the start of a
call, and end it together: all with a new state, or all with an error and the old one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from torch import Tensor

from trimtab.core.state import StreamState


class Batch(NamedTuple):
    """The samples of a call, and which of them are this process's."""

    inputs: Tensor
    own: slice


class Party:
    """One process alone."""

    takes_empty_batches = False
    """Whether a batch may have no samples, because other processes may have some."""

    @contextmanager
    def agreeing(self, verb: str, state: StreamState | None = None) -> Iterator[None]:
        """What is done inside ends well in every process, or raises in every one.

        Args:
            verb: What is done; it must be the same in all.
            state: Where the stream is before it, the same in all; None where that is no matter.
        """
        yield

    def joined(self, inputs: Tensor) -> Batch:
        """The batches of all processes as one."""
        return Batch(inputs, slice(None))
