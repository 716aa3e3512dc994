"""The streams of a fleet: those used last in memory, the rest in a store."""

from __future__ import annotations

import weakref
from collections.abc import Callable

from trimtab.core.adapter import Adapter
from trimtab.core.observed import Listener
from trimtab.core.ranges import check_whole
from trimtab.core.state import StreamState
from trimtab.fleets.opening import Opening
from trimtab.fleets.store import Store


class Residents:
    """Adapters by name, of which at most ``limit`` stay in memory.

    Going on after a time in the store is exact. An adapter that somebody else holds stays.

    Args:
        usual: How streams are opened that nothing else is said of.
        start: Makes a fresh stream of a name and an opening.
        store: Where the others wait; None keeps all in memory.
        limit: Most streams in memory between two steps; None has no limit.
    """

    def __init__(
        self,
        usual: Opening,
        start: Callable[[str, Opening], Adapter],
        store: Store | None = None,
        limit: int | None = None,
    ) -> None:
        check_whole("resident", limit, "stream")
        if limit is not None and store is None:
            raise ValueError("resident= needs store=, a folder for the streams not in memory")
        self.usual = usual
        self.store = store
        self.limit = limit
        self._start = start
        self._adapters: dict[str, Adapter] = {}  # the one used last is last
        self._openings: dict[str, Opening] = {}  # those that are not the usual one
        self._stored: dict[str, weakref.ref[StreamState]] = {}  # states that the store has
        self._listeners: dict[str, tuple[Listener, ...]] = {}  # of streams that moved out

    @property
    def names(self) -> set[str]:
        """Of all streams, wherever they are."""
        return self._adapters.keys() | (self.store.names if self.store else set())

    @property
    def in_memory(self) -> list[str]:
        """Names of the streams in memory; the one used last is last."""
        return list(self._adapters)

    def __contains__(self, name: object) -> bool:
        return name in self._adapters or (self.store is not None and name in self.store.names)

    def get(self, name: str) -> Adapter:
        """A stream that there is; it is now the one used last."""
        adapter = self._adapters.pop(name, None) or self._read(name)
        self._adapters[name] = adapter
        return adapter

    def _read(self, name: str) -> Adapter:
        if self.store is None or name not in self.store.names:
            raise KeyError(f"there is no stream {name!r}")
        if name not in self._openings:
            own = self.store.opening(name, self.usual)
            if own is not None:
                self._openings[name] = own
        adapter = self._start(name, self._openings.get(name, self.usual))
        adapter.load_state_dict(self.store.read(name, adapter.backbone.device))
        self._stored[name] = weakref.ref(adapter.state)
        for listener in self._listeners.pop(name, ()):
            adapter.on_health(listener)
        return adapter

    def open(self, name: str, opening: Opening) -> Adapter:
        """A fresh stream."""
        adapter = self._start(name, opening)
        self._adapters[name] = adapter
        if opening is not self.usual:
            self._openings[name] = opening
        return adapter

    def forget(self, name: str) -> None:
        """Let go of a stream for ever."""
        self._adapters.pop(name, None)
        self._openings.pop(name, None)
        self._stored.pop(name, None)
        self._listeners.pop(name, None)
        if self.store is not None:
            self.store.delete(name)

    def shrink(self) -> None:
        """Move those used longest ago into the store, until the limit is kept."""
        if self.limit is None:
            return
        for name in self.in_memory[: max(0, len(self._adapters) - self.limit)]:
            self._move_out(name)

    def _move_out(self, name: str) -> None:
        self.keep(name)
        listeners = self._adapters[name].listeners
        known = weakref.ref(self._adapters.pop(name))
        held = known()
        if held is None:
            self._stored.pop(name, None)
            if listeners:
                self._listeners[name] = listeners
        else:
            self._adapters[name] = held  # who holds it may go on with it at any time

    def keep_all(self) -> None:
        """Bring the store up to date."""
        if self.store is None:
            raise ValueError("this fleet has no store; use save(folder), or open it with store=")
        for name in self.in_memory:
            self.keep(name)

    def keep(self, name: str) -> None:
        """Bring the store up to date with a stream in memory."""
        assert self.store is not None
        adapter, known = self._adapters[name], self._stored.get(name)
        if known is not None and known() is adapter.state:
            return
        self.store.write(name, adapter.state_dict(), self._openings.get(name))
        self._stored[name] = weakref.ref(adapter.state)

    def take_over(self, saved: Store) -> None:
        """Have all streams of a saved fleet: in the store, or else in memory."""
        if self.store is not None:
            for name in sorted(saved.names):
                self.store.take(name, saved)
            return
        self.store = saved
        try:
            for name in sorted(saved.names):
                self.get(name)
        finally:
            self.store, self._stored = None, {}

    def copy_to(self, store: Store) -> None:
        """Put all streams as they are now into an empty store."""
        for name in sorted(self.names):
            if name in self._adapters:
                state = self._adapters[name].state_dict()
                store.write(name, state, self._openings.get(name))
            elif self.store is not None:
                store.take(name, self.store)
