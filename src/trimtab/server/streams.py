"""Which streams live where: in the fleet, in the store, or nowhere yet. One thread uses this."""

import logging
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from trimtab.core.adapter import Adapter
from trimtab.core.counters import Counters
from trimtab.core.guard.health import Health
from trimtab.core.ranges import check_value, check_whole
from trimtab.fleets.fleet import Fleet
from trimtab.server.errors import RequestError, too_many
from trimtab.server.journal import Journal
from trimtab.server.limits import Limits
from trimtab.server.store import Store

log = logging.getLogger("trimtab.server")

SOURCE = "~source"
"""Name of the stream that never learns; no client's can be called so."""

MOST_WAITING = 256
"""States that may wait for the disk before saving by the clock pauses."""


ACTS = {
    "alarms": "the guard saw harm, the source model predicts",
    "rollbacks": "the guard went back to a blessed state",
    "returns": "the guard trusts the adapted model again",
}
"""What a guard does, by the name of its count in a health record."""

HEALTH = ("predicting", "accuracy", "source_accuracy", "harm", "evidence", "agreement", *ACTS)


def shown(health: Health) -> dict[str, Any]:
    """The part of a health record that is listed."""
    return {name: getattr(health, name) for name in HEALTH}


@dataclass(frozen=True)
class Saving:
    """A state is saved after so many samples, or so many seconds after it changed."""

    samples: int = 64
    seconds: float = 5.0

    def __post_init__(self) -> None:
        check_whole("save_samples", self.samples, "sample")
        check_value("save_seconds", self.seconds, lambda value: value >= 0, "be 0 or more")


@dataclass
class Record:
    """What is known of a stream in memory. Other threads may read it.

    Args:
        used: When the stream was used last, in seconds of ``time.monotonic``.
        unsaved_samples: Samples since the state was last given to the store.
        changed: When the state changed first since then; None if it did not.
    """

    frozen: bool = False
    used: float = field(default_factory=time.monotonic)
    opened: float = field(default_factory=time.time)
    unsaved_samples: int = 0
    changed: float | None = None
    learned_through: int | None = None
    counters: dict[str, Any] = field(default_factory=dict)
    health: dict[str, Any] = field(default_factory=dict)

    @property
    def idle_seconds(self) -> float:
        return round(time.monotonic() - self.used, 1)


class Streams:
    """The streams of one model.

    Args:
        store: Where states are kept; without one they live and die with the process.
        journal: Where rounds are noted before they are computed.
    """

    def __init__(
        self,
        fleet: Fleet,
        store: Store | None,
        limits: Limits,
        saving: Saving | None = None,
        journal: Journal | None = None,
    ) -> None:
        self.fleet, self.store, self.limits, self.journal = fleet, store, limits, journal
        self.saving = saving or Saving()
        self.records: dict[str, Record] = {}
        self.totals = Counters()
        self.acts = dict.fromkeys(ACTS, 0)
        self.on_accuracy: Callable[[float, float], None] = lambda adapted, source: None
        self.on_event: Callable[[str, str], None] = lambda stream, what: None
        self.known: set[str] = set(store.streams()) if store else set()
        fleet.open(SOURCE, method="source")

    # ---------------------------------------------------------------- coming and going

    def adapter(self, stream: str) -> Adapter:
        """The stream, opened from its state in the store, or afresh."""
        if stream in self.records:
            self.records[stream].used = time.monotonic()
            return self.fleet[stream]
        if stream not in self.known and len(self.known) >= self.limits.streams:
            raise too_many(f"there are {len(self.known)} streams already; delete some", 60)
        record = Record()
        adapter = self.fleet.open(stream)
        if self.store is not None:
            self._load(stream, adapter, record)
        record.learned_through = adapter.state.learned_through
        record.counters = asdict(adapter.counters)
        self._watch(stream, adapter, record)
        self.records[stream] = record
        self.known.add(stream)
        return adapter

    def _watch(self, stream: str, adapter: Adapter, record: Record) -> None:
        """Keep the record's health as the guard sees it, and tell what the guard did."""

        def looked(health: Health) -> None:
            for name, what in ACTS.items():
                times = getattr(health, name) - record.health.get(name, 0)
                if times > 0:
                    self.acts[name] += times
                    self.on_event(stream, what)
            record.health = shown(health)

        record.health = shown(adapter.health)
        adapter.on_health(looked)

    def _load(self, stream: str, adapter: Adapter, record: Record) -> None:
        assert self.store is not None
        try:
            state = self.store.get(stream)
            if state is not None:
                adapter.load_state_dict(state)
            record.frozen = self.store.is_frozen(stream)
        except (ValueError, OSError) as error:
            self.fleet.close(stream)
            log.exception("a stored state cannot be used", extra={"stream": stream})
            raise RequestError(
                409,
                f"the stored state of {stream} cannot be used: {error}; delete the stream to "
                "begin anew, or serve the model and method that it belongs to",
            ) from error

    def window_filled_by(self, stream: str | None, samples: int) -> int:
        """Size of the stream's window if as many samples fill it; 0 where they do not."""
        if stream not in self.records or self.records[stream].frozen:
            return 0
        window = self.fleet[stream].window
        is_full = window.room is not None and samples >= window.room
        return window.size if is_full and window.size is not None else 0

    def make_room(self) -> None:
        """Park the streams that were used longest ago, as far as there are too many."""
        surplus = len(self.records) - self.limits.resident
        if surplus > 0:
            oldest = sorted(self.records, key=lambda stream: self.records[stream].used)
            for stream in oldest[:surplus]:
                self.park(stream)

    def park(self, stream: str) -> None:
        """Leave the stream to the store alone; forget one of which nothing is or will be there."""
        record = self.records[stream]
        if record.changed is not None:
            self.save(stream)
        elif self.store is not None:
            self.store.note_use(stream, record.idle_seconds)
        if self.store is None or not self.store.holds(stream):
            self.forget(stream)
            return
        self.fleet.close(stream)
        del self.records[stream]

    def delete(self, stream: str) -> None:
        """Forget a stream for good."""
        if self.store is not None:
            self.store.delete(stream)
        self.forget(stream)

    def forget(self, stream: str) -> None:
        """Let a stream go from memory, whatever the store has of it."""
        if stream in self.fleet:
            self.fleet.close(stream)
        self.records.pop(stream, None)
        self.known.discard(stream)

    # ---------------------------------------------------------------- saving

    def touch(self, stream: str, samples: int = 0) -> None:
        """Note a change of state; save it if enough has gathered."""
        record = self.records[stream]
        record.unsaved_samples += samples
        record.changed = record.changed or time.monotonic()
        if record.unsaved_samples >= self.saving.samples:
            self.save(stream)

    def save(self, stream: str) -> None:
        """Give the state to the store."""
        record = self.records[stream]
        record.unsaved_samples, record.changed = 0, None
        if self.store is not None:
            self.store.put(stream, self.fleet[stream].state_dict())

    def save_all(self) -> None:
        """Give every changed state to the store, and when the others were used."""
        for stream, record in self.records.items():
            if record.changed is not None:
                self.save(stream)
            elif self.store is not None:
                self.store.note_use(stream, record.idle_seconds)

    def _tell_accuracy(self) -> None:
        """Tell the mean of what guards estimate of their streams."""
        looks = [r.health for r in self.records.values() if r.health.get("accuracy") is not None]
        if looks:
            adapted, source = (
                sum(look[name] for look in looks) / len(looks)
                for name in ("accuracy", "source_accuracy")
            )
            self.on_accuracy(adapted, source)

    def _is_due(self, record: Record, now: float) -> bool:
        if record.changed is None or now - record.changed <= self.saving.seconds:
            return False
        return self.store is None or self.store.waiting < MOST_WAITING

    def tidy(self) -> None:
        """What time brings: states to save, streams that idle, streams to forget."""
        now = time.monotonic()
        self._tell_accuracy()
        for stream, record in list(self.records.items()):
            if now - record.used > self.limits.idle_seconds:
                self.park(stream)
            elif self._is_due(record, now):
                self.save(stream)
        if self.store is not None and self.limits.forget_seconds is not None:
            for stream in self.store.older_than(self.limits.forget_seconds):
                if stream not in self.records:
                    self.delete(stream)
