"""What people see of a stream, and where they can send it back to."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import torch

from trimtab.core.backbone import Backbone, Tensors
from trimtab.core.guard.health import LOG, Health, has_looked, health
from trimtab.core.history import History, Snapshot
from trimtab.core.state import StateView, StreamState

if TYPE_CHECKING:
    from trimtab.core.method import Method

Listener = Callable[[Health], None]


class Observed(StateView):
    """A stream's health and history, beside the parts of its state."""

    state: StreamState
    source: Tensors
    learns: bool

    def __init__(
        self, backbone: Backbone, method: Method, snapshots: tuple[Snapshot, ...] = ()
    ) -> None:
        self.backbone = backbone
        self.method = method
        self.lock: AbstractContextManager[bool] = threading.RLock()
        self._history = History((backbone, method), snapshots)
        self._listeners: list[Listener] = []

    def commit(self, state: StreamState) -> None:
        """Go on from this state, and tell listeners where a guard has looked."""
        looked = has_looked(self.state, state)
        self.resume(state)
        if looked and self._listeners:
            self._tell(self.health)

    def resume(self, state: StreamState) -> None:
        """Go on from this state, and remember it where a guard has blessed another one by now."""
        if state.blessed is not self.state.blessed:
            self._history.note_blessed(state)
        self.state = state

    def _tell(self, found: Health) -> None:
        """Call each listener; one that fails stops neither the others nor the stream."""
        for listener in self._listeners:
            try:
                listener(found)
            except Exception:
                LOG.exception("a listener of a stream's health has failed")

    def on_health(self, listener: Listener) -> None:
        """Call ``listener`` with the stream's health after each look that the guard takes."""
        if not callable(listener):
            raise ValueError(f"a listener must be a function of a Health, got {listener!r}")
        self._listeners.append(listener)

    @property
    def listeners(self) -> tuple[Listener, ...]:
        """Who is called with the stream's health."""
        return tuple(self._listeners)

    @property
    def health(self) -> Health:
        """What is known of the stream without labels."""
        with self.lock:
            return health(self.state, self.source, self.beliefs, self.backbone.num_classes or 0)

    @property
    def beliefs(self) -> dict[str, dict[str, float]]:
        """What the method's components believe of the stream, by component: a temperature, how
        correlated classes seem, and the like; empty before the first batch."""
        with self.lock:
            memory = self.state.memory
            reports = {
                c.name: dict(c.report(memory[c.name])) for c in self.method.components if memory
            }
            return {name: report for name, report in reports.items() if report}

    @property
    def optimizer(self) -> torch.optim.Optimizer | None:
        """An optimiser of the present parameters that has their moments; None before the first
        batch, or where nothing is learned."""
        state = self.state
        if not self.learns or state.sample_shape is None:
            return None
        return self.method.optimizer.bound(state.trained(), state.moments, state.sample_shape)

    def snapshot(self, name: str | None = None) -> Snapshot:
        """Keep a copy of the state in memory, to go back to with ``rollback``."""
        with self.lock, torch.inference_mode(False):
            return self._history.add(self.state, name)

    @property
    def history(self) -> tuple[Snapshot, ...]:
        """Snapshots that one can go back to, and states that the guard has blessed, by age.

        They live in memory: a saved state holds the guard's last blessed state and none of these.
        """
        return self._history.snapshots

    def rollback(self, to: str | Snapshot | None = None) -> None:
        """Go back to a snapshot, by default the latest; counters and the guard's evidence go on."""
        with self.lock, torch.inference_mode(False):
            self.state = self._history.find(to, self.state).over(self.state)
