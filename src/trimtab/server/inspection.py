"""A stream as JSON for people and programs: what it has done, believes and remembers."""

from dataclasses import asdict
from typing import Any

from trimtab.server.errors import RequestError
from trimtab.server.streams import Streams


def listed(streams: Streams, names: list[str]) -> list[dict[str, Any]]:
    """Streams in short, without touching any; those in memory with their counters."""
    return [_short(streams, name) for name in names]


def _short(streams: Streams, stream: str) -> dict[str, Any]:
    record, store = streams.records.get(stream), streams.store
    if record is None:
        return {"id": stream, "resident": False}
    return {
        "id": stream,
        "resident": True,
        "frozen": record.frozen,
        "samples": record.counters.get("samples", 0),
        "updates": record.counters.get("updates", 0),
        "idle_seconds": record.idle_seconds,
        "learned_through": record.learned_through,
        "durable_through": None if store is None else store.durable_through(stream),
        "health": record.health,
    }


def described(streams: Streams, stream: str) -> dict[str, Any]:
    """All that is known of one stream; one in the store alone is not loaded for that."""
    if stream not in streams.known:
        raise no_such(stream)
    if stream not in streams.records:
        return _stored(streams, stream)
    adapter = streams.fleet[stream]
    return _short(streams, stream) | {
        "counters": asdict(adapter.counters),
        "beliefs": adapter.beliefs,
        "history": [
            {"name": kept.name, "samples": kept.samples, "blessed": kept.blessed}
            for kept in adapter.history
        ],
        "seed": adapter.seed,
        "sample_shape": list(adapter.sample_shape or ()),
    }


def _stored(streams: Streams, stream: str) -> dict[str, Any]:
    assert streams.store is not None
    try:
        manifest = streams.store.manifest(stream)
    except ValueError as error:
        raise RequestError(409, f"the stored state of {stream} cannot be read: {error}") from error
    if manifest is None:  # on its way to the disk
        waiting = streams.store.get(stream)
        if waiting is None:
            raise no_such(stream)
        manifest = waiting
    return {
        "id": stream,
        "resident": False,
        "frozen": streams.store.is_frozen(stream),
        "samples": manifest["counters"]["samples"],
        "learned_through": manifest["learned_through"],
        "durable_through": manifest["learned_through"],
        "counters": manifest["counters"],
        "seed": manifest["seed"],
        "sample_shape": manifest["sample_shape"],
    }


def no_such(stream: str) -> RequestError:
    """404."""
    return RequestError(404, f"there is no stream {stream!r}")
