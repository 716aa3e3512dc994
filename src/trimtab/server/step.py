"""One fleet step for the requests of many streams, and the books that are kept of it."""

import logging
import time
from typing import Any

import torch
from torch import Tensor

from trimtab.core.counters import Counters
from trimtab.core.state import StreamState
from trimtab.fleets.fleet import StreamError
from trimtab.server.errors import RequestError
from trimtab.server.journal import Entry
from trimtab.server.streams import SOURCE, Streams
from trimtab.server.work import Outcome, Result, Work

log = logging.getLogger("trimtab.server")


def step(streams: Streams, works: list[Work]) -> list[Result]:
    """What becomes of each request: at most one of each stream, any number for the source model.

    A stream's own failure leaves it as it was and the others undisturbed.
    """
    before: dict[str, StreamState] = {}
    prepared = [_prepared(streams, work, before) for work in works]
    ready = [work for work, refused in zip(works, prepared, strict=True) if refused is None]
    learners = {work.stream for work in ready if _learns(streams, work)}
    try:
        logits = _computed(streams, ready, learners, before)
    except BaseException:
        for stream, state in before.items():
            _put_back(streams, stream, state)
        raise
    rows = _Rows(logits.get(SOURCE))
    results = [
        refused or _finished(streams, work, work.stream in learners, logits, before, rows)
        for work, refused in zip(works, prepared, strict=True)
    ]
    streams.make_room()
    return results


def _computed(
    streams: Streams, ready: list[Work], learners: set[str | None], before: dict[str, StreamState]
) -> dict[str, Any]:
    """Logits of each stream, or what went wrong with it alone, of a round that was noted."""
    if streams.journal is not None and ready:
        streams.journal.note(_entry(streams, work, before) for work in ready)
    batches = {work.stream: work.inputs for work in ready if work.stream is not None}
    plain = [work.inputs for work in ready if work.stream is None]
    if plain:
        batches[SOURCE] = torch.cat(plain)
    return dict(streams.fleet.step(batches, predict_only=batches.keys() - learners))


def _prepared(streams: Streams, work: Work, before: dict[str, StreamState]) -> RequestError | None:
    """Have the stream in memory, at its beginning where that is asked for."""
    if work.stream is None:
        return None
    try:
        adapter = streams.adapter(work.stream)
    except RequestError as refused:
        return refused
    through = streams.records[work.stream].learned_through
    if work.after and (through is None or through < work.after):
        _leave(streams, work.stream, adapter.state)
        return RequestError(
            409,
            f"{work.stream} has learned through {through}, not {work.after}; send again what came "
            "between",
        )
    before[work.stream] = adapter.state
    if _begins_anew(streams, work, adapter.state):
        adapter.reset()
    return None


def _begins_anew(streams: Streams, work: Work, state: StreamState) -> bool:
    return work.start and state.counters.samples > 0 and not _is_repeated(streams, work)


def _entry(streams: Streams, work: Work, before: dict[str, StreamState]) -> Entry:
    """What the journal says of a request that is about to be computed."""
    if work.stream is None:
        return Entry(None, None, work.samples)
    state = before[work.stream]
    return Entry(
        work.stream,
        work.number,
        work.samples,
        streams.records[work.stream].learned_through,
        state.counters.samples,
        _learns(streams, work),
        _counts(streams, work),
        _begins_anew(streams, work, state),
    )


def _is_repeated(streams: Streams, work: Work) -> bool:
    """Whether a request of this number, or a later one, has been handled already."""
    assert work.stream is not None
    through = streams.records[work.stream].learned_through
    return work.number is not None and through is not None and work.number <= through


def _counts(streams: Streams, work: Work) -> bool:
    """Whether the stream has learned through the request's number after it."""
    return work.number is not None and work.learn and not _is_repeated(streams, work)


def _learns(streams: Streams, work: Work) -> bool:
    if work.stream is None or not work.learn or streams.records[work.stream].frozen:
        return False
    return not _is_repeated(streams, work)


def _finished(
    streams: Streams,
    work: Work,
    learned: bool,
    logits: dict[str, Any],
    before: dict[str, StreamState],
    rows: "_Rows",
) -> Result:
    if work.stream is None:
        return rows.next(work.samples)
    result = logits[work.stream]
    if isinstance(result, StreamError):
        return _failed(streams, work.stream, before[work.stream], result)
    repeated = _is_repeated(streams, work)
    counts = _counts(streams, work)
    _note(streams, work, learned, counts, repeated)
    store = streams.store
    counters = streams.fleet[work.stream].counters
    refused = counters.refused_samples - before[work.stream].counters.refused_samples
    parameters = {
        "sequence_id": work.stream,
        "learned": learned and refused < work.samples,
        "repeated": repeated or None,
        "learned_through": streams.records[work.stream].learned_through,
        "durable_through": None if store is None else store.durable_through(work.stream),
    }
    if work.end:
        streams.park(work.stream)
    return Outcome(result, parameters)


def _failed(
    streams: Streams, stream: str, before: StreamState, failure: StreamError
) -> RequestError:
    """What a client is told; the stream is as it was."""
    _put_back(streams, stream, before)
    error = failure.error
    if isinstance(error, ValueError):
        return RequestError(400, str(error))
    log.error("a stream's step failed", exc_info=error, extra={"stream": stream})
    return RequestError(500, f"the step failed and nothing was learned: {type(error).__name__}")


def _put_back(streams: Streams, stream: str, before: StreamState) -> None:
    """Have a stream as it was before its request; one that was opened for that is none."""
    streams.fleet[stream].state = before
    _leave(streams, stream, before)


def _leave(streams: Streams, stream: str, state: StreamState) -> None:
    """Forget a stream that was opened for a request of which nothing came."""
    if not state.counters.samples and not (streams.store and streams.store.holds(stream)):
        streams.forget(stream)


def _note(streams: Streams, work: Work, learned: bool, counts: bool, repeated: bool) -> None:
    """Keep the books. A frozen stream leaves numbered requests behind, too."""
    assert work.stream is not None
    record, adapter = streams.records[work.stream], streams.fleet[work.stream]
    record.used = time.monotonic()
    if counts:
        record.learned_through = work.number
    adapter.state.learned_through = record.learned_through  # whatever a guard has put back
    done = vars(adapter.counters).copy()
    gained = {name: value - record.counters.get(name, 0) for name, value in done.items()}
    streams.totals = streams.totals.plus(Counters(**gained))
    record.counters = done
    if learned or counts or (work.start and not repeated):
        streams.touch(work.stream, work.samples)


class _Rows:
    """The source model's logits, dealt out to its requests in their order."""

    def __init__(self, logits: Tensor | StreamError | None) -> None:
        self._logits, self._dealt = logits, 0

    def next(self, samples: int) -> Result:
        if not isinstance(self._logits, Tensor):
            return RequestError(400, f"the model could not predict: {self._logits}")
        first = self._dealt
        self._dealt += samples
        return Outcome(self._logits[first : self._dealt], {"learned": False})
