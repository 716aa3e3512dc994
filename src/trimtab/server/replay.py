"""The rounds of a journal made again: every stream's state at every number, bit for bit.

States that a killed server had not kept are made too; a stream goes on from the one that the next
round says it went on from.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from trimtab.core.state import StreamState
from trimtab.fleets.fleet import Fleet, StreamError
from trimtab.server.journal import Entry
from trimtab.server.streams import SOURCE

Place = tuple[int | None, int]
"""Where a stream is: the number that it has learned through, and the samples that it has seen."""


class Replay:
    """Repeats rounds on a fleet of its own.

    Args:
        fleet: Made like the server's: same network, method, options and seed; no streams yet.
        inputs: The samples of an entry, as the client sent them.
    """

    def __init__(self, fleet: Fleet, inputs: Callable[[Entry], Tensor]) -> None:
        self.fleet, self.inputs = fleet, inputs
        self._states: dict[str, dict[Place, StreamState]] = {}
        fleet.open(SOURCE, method="source")

    def play(self, entries: Sequence[Entry]) -> None:
        """Make one round."""
        own = [(entry.stream, entry) for entry in entries if entry.stream is not None]
        for stream, entry in own:
            self._go_back(stream, entry)
        batches = {stream: self.inputs(entry) for stream, entry in own}
        plain = [self.inputs(entry) for entry in entries if entry.stream is None]
        if plain:
            batches[SOURCE] = torch.cat(plain)
        learners = {stream for stream, entry in own if entry.learns}
        before = {stream: self.fleet[stream].state for stream, _ in own}
        results = self.fleet.step(batches, predict_only=batches.keys() - learners)
        for stream, entry in own:
            if isinstance(results[stream], StreamError):
                self.fleet[stream].state = before[stream]
            elif entry.learns or entry.counts:
                self._note(stream, entry)

    def state(self, stream: str, place: Place) -> dict[str, Any]:
        """All that decides a stream's next predictions, at a place where it has been."""
        adapter = self.fleet[stream]
        now = adapter.state
        adapter.state = self._state(stream, place)
        try:
            return adapter.state_dict()
        finally:
            adapter.state = now

    def _go_back(self, stream: str, entry: Entry) -> None:
        """Put a stream where the round found it; what it has learned since was lost."""
        adapter, place = self.fleet[stream], (entry.through, entry.seen)
        self._states.setdefault(stream, {(None, 0): adapter.state})
        if (adapter.state.learned_through, adapter.counters.samples) != place:
            adapter.state = self._state(stream, place)
            self._states[stream] = {place: adapter.state}
        if entry.anew:
            adapter.reset()

    def _note(self, stream: str, entry: Entry) -> None:
        state = self.fleet[stream].state
        state.learned_through = entry.number if entry.counts else entry.through
        place = state.learned_through, state.counters.samples
        self._states.setdefault(stream, {})[place] = state

    def _state(self, stream: str, place: Place) -> StreamState:
        try:
            return self._states.get(stream, {})[place]
        except KeyError:
            through, seen = place
            raise ValueError(
                f"the journal does not say how {stream} came to number {through} with {seen} "
                "samples; it has to begin with the stream, and rollbacks by hand are not in it"
            ) from None
