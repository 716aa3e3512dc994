"""Many streams over one backbone: each adapts for itself, their passes are made together."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import Any

from torch import Tensor

from trimtab.core.adapter import Adapter
from trimtab.core.backbone import Backbone
from trimtab.fleets import names as stream_names
from trimtab.fleets.opening import Opening
from trimtab.fleets.together import Hub, Together


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
    """

    def __init__(self, backbone: Backbone, opening: Opening, *, samples_at_once: int = 128) -> None:
        if samples_at_once < 1:
            raise ValueError(f"samples_at_once must be at least 1, got {samples_at_once}")
        self.backbone = backbone
        self.opening = opening
        self.samples_at_once = samples_at_once
        self._passes = Together(backbone)
        self._adapters: dict[str, Adapter] = {}
        self._lock = threading.RLock()

    # ---------------------------------------------------------------- streams by name

    def __getitem__(self, name: str) -> Adapter:
        """The stream of this name; it is opened where there is none."""
        with self._lock:
            return self._adapters[name] if name in self._adapters else self.open(name)

    def __contains__(self, name: object) -> bool:
        with self._lock:
            return name in self._adapters

    def __len__(self) -> int:
        with self._lock:
            return len(self._adapters)

    def __iter__(self) -> Iterator[str]:
        with self._lock:
            return iter(sorted(self._adapters))

    def open(self, name: str, method: Any = None, **options: Any) -> Adapter:
        """A new stream, with a method and options of its own where some are given.

        Args:
            method: A name, a composition or a Method in place of the fleet's.
            options: Of the method or of the stream (``window``, ``budget``, ``seed`` ...), in
                place of the fleet's; of the fleet's method, all others stay.
        """
        with self._lock:
            stream_names.check(name)
            if name in self:
                raise ValueError(f"there is a stream {name!r} already; close it first")
            self._adapters[name] = self._opened(name, self.opening.with_(method, options))
            return self._adapters[name]

    def _opened(self, name: str, opening: Opening) -> Adapter:
        return opening.start(self.backbone, name, self._passes)

    def close(self, name: str) -> None:
        """Forget a stream."""
        with self._lock:
            if name not in self:
                raise KeyError(f"there is no stream {name!r}")
            del self._adapters[name]

    # ---------------------------------------------------------------- stepping

    def step(
        self, batches: Mapping[str, Tensor], predict_only: Collection[str] = ()
    ) -> dict[str, Tensor | StreamError]:
        """Each stream's logits, or what went wrong with it alone: one step of each of them.

        The order of ``batches`` does not matter.

        Args:
            batches: By the streams' names.
            predict_only: Streams that are to learn nothing and to stay as they are.
        """
        with self._lock:
            results: dict[str, Tensor | StreamError] = {}
            for group in self._groups(batches):
                results |= self._step_together(group, batches, predict_only)
            return {name: results[name] for name in batches}

    def _groups(self, batches: Mapping[str, Tensor]) -> Iterator[list[str]]:
        """Names in their order, in groups of at most ``samples_at_once`` samples."""
        group: list[str] = []
        samples = 0
        for name in sorted(batches):
            size = len(batches[name]) if isinstance(batches[name], Tensor) else 1
            if group and samples + size > self.samples_at_once:
                yield group
                group, samples = [], 0
            group.append(name)
            samples += size
        if group:
            yield group

    def _step_together(
        self, group: list[str], batches: Mapping[str, Tensor], predict_only: Collection[str]
    ) -> dict[str, Tensor | StreamError]:
        known = {name for name in group if name in self}
        results: dict[str, Tensor | Exception] = {}
        jobs = {}
        for name in group:
            try:
                adapter = self[name]
            except Exception as error:
                results[name] = error
                continue
            call = adapter.predict if name in predict_only else adapter
            jobs[name] = partial(call, batches[name])
        results |= Hub(self.backbone, jobs).run()
        for name in group:
            if isinstance(results[name], Exception) and name not in known:
                self._adapters.pop(name, None)  # a stream that could not begin is none
        return {name: _named(name, results[name]) for name in group}


def _named(name: str, result: Tensor | Exception) -> Tensor | StreamError:
    return StreamError(name, result) if isinstance(result, Exception) else result
