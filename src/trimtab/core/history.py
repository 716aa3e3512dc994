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
        others = [old for old in self._ring if old.name != name]
        kept = Snapshot(name, samples, False, replace(state.clone(), blessed=None), self._made_by)
        self._ring = deque([*others, kept], maxlen=RING)
        return kept

    def note_blessed(self, state: StreamState) -> None:
        """Keep the state that a guard has blessed, unless it is there already."""
        blessed = state.blessed
        if blessed is None or any(old.state is blessed for old in self._ring):
            return
        samples = blessed.counters.samples
        named = f"blessed at {samples}"
        self._ring.append(Snapshot(named, samples, True, blessed, self._made_by))

    def find(self, to: str | Snapshot | None) -> Snapshot:
        """A snapshot by name; None is the latest. One of another model or method is refused."""
        if isinstance(to, Snapshot):
            (backbone, method), (own, ours) = to.made_by, self._made_by
            if backbone is not own or method.spec != ours.spec:
                raise ValueError(
                    f"snapshot {to.name!r} belongs to another model or method; go back to one of "
                    "this adapter's history"
                )
            return to
        found = [old for old in self._ring if to is None or old.name == to]
        if not found:
            known = ", ".join(repr(old.name) for old in self._ring) or "none"
            wanted = "snapshot" if to is None else f"snapshot {to!r}"
            raise ValueError(f"there is no {wanted} to go back to; known: {known}")
        return found[-1]
