"""What an operator may do with a stream: reset, freeze, snapshot, roll back, delete."""

from typing import Any

from trimtab.core.adapter import Adapter
from trimtab.server.errors import RequestError
from trimtab.server.inspection import described, no_such
from trimtab.server.streams import Streams


def reset(streams: Streams, stream: str) -> dict[str, Any]:
    """Back to the source model; counters and request numbers go on."""
    _known(streams, stream).reset()
    return _changed(streams, stream, "reset by an operator")


def freeze(streams: Streams, stream: str, frozen: bool) -> dict[str, Any]:
    """Learn no more, or learn again."""
    _known(streams, stream)
    if streams.store is not None:
        streams.store.set_frozen(stream, frozen)
    streams.records[stream].frozen = frozen
    return _changed(streams, stream, "frozen" if frozen else "learns again")


def snapshot(streams: Streams, stream: str, name: str | None) -> dict[str, Any]:
    """Keep a copy of the state in memory, to go back to."""
    made = _known(streams, stream).snapshot(name)
    streams.on_event(stream, f"snapshot {made.name!r}")
    return described(streams, stream) | {"snapshot": made.name}


def rollback(streams: Streams, stream: str, to: str | None) -> dict[str, Any]:
    """Back to a snapshot, the latest where none is named; counters and numbers go on."""
    try:
        _known(streams, stream).rollback(to)
    except ValueError as error:
        raise RequestError(409, str(error)) from error
    return _changed(streams, stream, "rolled back by an operator")


def delete(streams: Streams, stream: str) -> dict[str, Any]:
    """Forget the stream for good."""
    if stream not in streams.known:
        raise no_such(stream)
    streams.delete(stream)
    streams.on_event(stream, "deleted")
    return {"id": stream, "deleted": True}


def _known(streams: Streams, stream: str) -> Adapter:
    if stream not in streams.known:
        raise no_such(stream)
    return streams.adapter(stream)


def _changed(streams: Streams, stream: str, what: str) -> dict[str, Any]:
    """Save the stream as it is now, whatever was put back in it, and describe it."""
    streams.fleet[stream].state.learned_through = streams.records[stream].learned_through
    streams.save(stream)
    streams.make_room()
    streams.on_event(stream, what)
    return described(streams, stream)
