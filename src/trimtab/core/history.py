"""Snapshots of a stream: a ring of states in memory that a stream can go back to."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from trimtab.core.backbone import Backbone
from trimtab.core.state import StreamState

if TYPE_CHECKING:
    from trimtab.core.method import Method

RING = 8
"""States that are kept; the oldest make room for new ones."""


@dataclass(frozen=True)
class Snapshot:
    """A state of a stream.

    Args:
        name: Given by the caller, or of how many samples had come.
        samples: How many had come.
        blessed: Whether a guard found the state well; a caller's snapshots are not judged.
        made_by: The backbone and the method of the streams that can go on from it.
    """

    name: str
    samples: int
    blessed: bool
    state: StreamState = field(repr=False, compare=False)
    made_by: tuple[Backbone, Method] = field(repr=False, compare=False)

    def over(self, now: StreamState) -> StreamState:
        """The state to go on with from here, in place of ``now``, whose counters go on."""
        return replace(
            self.state.clone(),
            counters=now.counters,
            learned_through=now.learned_through,
            guard=now.guard,
            blessed=now.blessed,
        )


class History:
    """The latest snapshots, by the caller and by a guard. Saved states do not hold them."""

    def __init__(
        self, made_by: tuple[Backbone, Method], snapshots: tuple[Snapshot, ...] = ()
    ) -> None:
        self._made_by = made_by
        self._ring = deque(snapshots, maxlen=RING)

    @property
    def snapshots(self) -> tuple[Snapshot, ...]:
        """The oldest first."""
        return tuple(self._ring)

    def add(self, state: StreamState, name: str | None = None) -> Snapshot:
        """Keep a copy of a state, by a name that no other one has."""
        samples = state.counters.samples
        name = name or f"sample {samples}"
        return self._keep(name, samples, False, replace(state.clone(), blessed=None))

    def note_blessed(self, state: StreamState) -> None:
        """Keep the state that a guard has blessed, once it has, so that later ones stay later."""
        if state.blessed is not None:
            samples = state.blessed.counters.samples
            self._keep(f"blessed at {samples}", samples, True, state.blessed)

    def _keep(self, name: str, samples: int, blessed: bool, state: StreamState) -> Snapshot:
        others = [old for old in self._ring if old.name != name]
        kept = Snapshot(name, samples, blessed, state, self._made_by)
        self._ring = deque([*others, kept], maxlen=RING)
        return kept

    def find(self, to: str | Snapshot | None, now: StreamState) -> Snapshot:
        """A snapshot by name; None is the latest. One of another model, method, window or pace than
        those of the stream that is in the state ``now`` is refused."""
        if isinstance(to, Snapshot):
            self._refuse_a_stranger(to, now)
            return to
        found = [old for old in self._ring if to is None or old.name == to]
        if not found:
            known = ", ".join(repr(old.name) for old in self._ring) or "none"
            wanted = "snapshot" if to is None else f"snapshot {to!r}"
            raise ValueError(f"there is no {wanted} to go back to; known: {known}")
        return found[-1]

    def _refuse_a_stranger(self, to: Snapshot, now: StreamState) -> None:
        (backbone, method), (own, ours) = to.made_by, self._made_by
        if backbone is not own or method.spec != ours.spec:
            other = "another model or method"
        elif _settings(to.state) != _settings(now):
            other = f"a stream with {_settings(to.state)}, here it is {_settings(now)}"
        else:
            return
        raise ValueError(
            f"snapshot {to.name!r} belongs to {other}; go back to one of this adapter's history"
        )


def _settings(state: StreamState) -> str:
    """What a state brings along that a stream was asked for."""
    pace = state.pace
    return f"window={state.window.size}, adapt_every={pace.adapt_every}, budget={pace.budget!r}"
