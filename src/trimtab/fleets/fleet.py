"""Many streams over one backbone: each adapts for itself, their passes are made together."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from torch import Tensor

from trimtab.core.adapter import Adapter
from trimtab.core.backbone import Backbone
from trimtab.core.method import Method
from trimtab.core.ranges import check_whole
from trimtab.core.structured import Given
from trimtab.fleets import names as stream_names
from trimtab.fleets import saving
from trimtab.fleets.opening import Opening
from trimtab.fleets.residents import Residents
from trimtab.fleets.store import Store
from trimtab.fleets.together import Together


class StreamError(Exception):
    """What one stream's step has raised; its state is as before.

    Args:
        stream: The stream's name.
        error: The exception.
    """

    def __init__(self, stream: str, error: Exception) -> None:
        super().__init__(f"stream {stream!r}: {error}")
        self.stream = stream
        self.error = error


class Fleet:
    """Streams by their names, which open on first use.

    A stream adapts as if it were alone: it has parameters, statistics and random numbers of its
    own, and what others send changes nothing but rounding. Steps from several threads wait for
    each other.

    Args:
        opening: How streams are opened that nothing else is said of.
        samples_at_once: Most samples in one merged pass; streams step in groups of as many.
        resident: Most streams in memory between two steps, those used last; None keeps all.
        store: Where the others wait as files. Streams that are there already go on.
    """

    def __init__(
        self,
        backbone: Backbone,
        opening: Opening,
        *,
        samples_at_once: int = 128,
        resident: int | None = None,
        store: Store | None = None,
    ) -> None:
        check_whole("samples_at_once", samples_at_once, "sample")
        self.backbone = backbone
        self.samples_at_once = samples_at_once
        self._passes = Together(backbone)
        self._streams = Residents(opening, self._started, store, resident)
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        model = type(self.backbone.model).__name__
        return f"<Fleet: {len(self)} streams on {model}, {len(self.in_memory)} in memory>"

    # ---------------------------------------------------------------- streams by name

    def __getitem__(self, name: str) -> Adapter:
        """The stream of this name; it is opened where there is none."""
        with self._lock:
            adapter = self._streams.get(name) if name in self._streams else self.open(name)
            self._streams.shrink()
            return adapter

    def __contains__(self, name: object) -> bool:
        with self._lock:
            return name in self._streams

    def __len__(self) -> int:
        with self._lock:
            return len(self._streams.names)

    def __iter__(self) -> Iterator[str]:
        with self._lock:
            return iter(sorted(self._streams.names))

    @property
    def in_memory(self) -> list[str]:
        """Names of the streams in memory; the one used last is last."""
        with self._lock:
            return self._streams.in_memory

    def open(self, name: str, method: str | Method | None = None, **options: Any) -> Adapter:
        """A new stream, with a method and options of its own where some are given.

        Args:
            method: A name, a composition or a Method in place of the fleet's.
            options: Of the method or of the stream (``window``, ``budget``, ``seed`` ...), in
                place of the fleet's; of the fleet's method, all others stay.
        """
        with self._lock:
            stream_names.check(name)
            if name in self._streams:
                raise ValueError(f"there is a stream {name!r} already; close it first")
            adapter = self._streams.open(name, self._streams.usual.with_(method, options))
            self._streams.shrink()
            return adapter

    def _started(self, name: str, opening: Opening) -> Adapter:
        return opening.start(self.backbone, name, self._passes)

    def close(self, name: str) -> None:
        """Forget a stream for ever, in memory and in the store."""
        with self._lock:
            if name not in self._streams:
                raise KeyError(f"there is no stream {name!r}")
            self._streams.forget(name)

    # ---------------------------------------------------------------- keeping

    def flush(self) -> None:
        """Bring the store up to date with all streams in memory."""
        with self._lock:
            self._streams.keep_all()

    def take_over(self, saved: Store) -> None:
        """Have all streams of a saved fleet too."""
        with self._lock:
            self._streams.take_over(saved)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Save all streams into a folder, whole or not at all; ``load_fleet`` reads it."""
        with self._lock:
            saving.write(self._streams, folder, self.backbone)

    # ---------------------------------------------------------------- stepping

    def step(
        self, batches: Mapping[str, Given], predict_only: Iterable[str] = ()
    ) -> dict[str, Tensor | StreamError]:
        """Each stream's logits, or what went wrong with it alone: one step of each of them.

        The order of ``batches`` does not matter.

        Args:
            batches: By the streams' names.
            predict_only: Streams that are to learn nothing and to stay as they are.
        """
        if not isinstance(batches, Mapping):
            came = type(batches).__name__
            raise ValueError(f"batches must be a mapping by the streams' names, got {came}")
        with self._lock:
            quiet = self._that_only_predict(predict_only, batches)
            results: dict[str, Tensor | StreamError] = {}
            for group in self._groups(batches):
                results |= self._step_together(group, batches, quiet)
                self._streams.shrink()
            return {name: results[name] for name in batches}

    def _that_only_predict(
        self, names: Iterable[str], batches: Mapping[str, Given]
    ) -> frozenset[str]:
        """These names; one that is misspelt would let the stream that was meant learn."""
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise ValueError(f"predict_only must be a collection of names, got {names!r}")
        once = list(names)  # an iterator tells its names one time only
        strange = [
            n
            for n in once
            if not isinstance(n, str) or (n not in batches and n not in self._streams)
        ]
        if strange:
            raise ValueError(
                f"predict_only must name streams of this fleet or of batches, got {strange}"
            )
        return frozenset(once)

    def _groups(self, batches: Mapping[str, Given]) -> Iterator[list[str]]:
        """Names in their order, in groups of few enough samples and streams."""
        most = self._streams.limit or len(batches)
        group: list[str] = []
        samples = 0
        for name in sorted(batches, key=str):  # what cannot be a name is told of by its stream
            size = _samples(batches[name])
            if group and (samples + size > self.samples_at_once or len(group) == most):
                yield group
                group, samples = [], 0
            group.append(name)
            samples += size
        if group:
            yield group

    def _step_together(
        self, group: list[str], batches: Mapping[str, Given], quiet: frozenset[str]
    ) -> dict[str, Tensor | StreamError]:
        known = {name for name in group if name in self._streams}
        results: dict[str, Tensor | Exception] = {}
        jobs = {}
        for name in group:
            try:
                adapter = self._streams.get(name) if name in known else self.open(name)
            except Exception as error:
                results[name] = error
                continue
            call = adapter.predict if name in quiet else adapter
            jobs[name] = partial(call, batches[name])
        results |= self._passes.run(jobs)
        for name in group:
            if isinstance(results[name], Exception) and name not in known:
                self._streams.forget(name)  # a stream that could not begin is none
        return {name: _named(name, results[name]) for name in group}


def _samples(batch: Given) -> int:
    """How many samples a batch claims to have; what is wrong with it is found later."""
    first = next(iter(batch.values()), None) if isinstance(batch, Mapping) else batch
    if isinstance(first, (tuple, list)) and first:
        first = first[0]
    return len(first) if isinstance(first, Tensor) and first.dim() else 1


def _named(name: str, result: Tensor | Exception) -> Tensor | StreamError:
    return StreamError(name, result) if isinstance(result, Exception) else result
