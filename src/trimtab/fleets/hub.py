"""Runs the steps of many streams together: each waits where it wants what others may want too.

Every stream's step runs in a greenlet, as plain code that can wait. When all of them wait, what
they ask for is made as one, and each goes on with its part.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any

import torch
from greenlet import getcurrent, greenlet
from torch import Tensor

from trimtab.core.joint import Piece

Job = Callable[[], Tensor]
"""One stream's step."""

Make = Callable[[list[Any]], list[Any]]
"""Makes what several streams have asked for, as one; their answers in the same order."""


class Apart(BaseException):
    """What was made as one has failed: its streams step one by one, so that it hurts one only."""


@dataclass(frozen=True)
class Wanted:
    """What a stream waits for.

    Args:
        rank: What is to be made first, so that streams meet at what comes later.
        kind: Things of one rank and kind are made as one.
        thing: What is asked for.
    """

    rank: int
    kind: Hashable
    thing: Any
    make: Make


class Runner(greenlet):
    """Runs one stream's job, which waits whenever it wants something."""

    def __init__(self, job: Job, hub: greenlet) -> None:
        super().__init__(job, hub)
        self.gr_context = copy_context()
        self.pieces: list[Piece] = []
        """Parts of merged passes that this stream may still go backward through."""

    def wait(self, wanted: Wanted) -> Any:
        """What the hub answers; gradient and inference mode are this stream's again afterwards."""
        assert self.parent is not None
        with torch.inference_mode(False):
            return self.parent.switch(wanted)


def running() -> Runner | None:
    """The runner of the stream whose step this is; None outside of any hub."""
    current = getcurrent()
    return current if isinstance(current, Runner) else None


class Hub:
    """Runs jobs of streams together.

    Args:
        jobs: By the streams' names; they run in this order wherever one could come first.
        prepare: Called in each runner's own context before it starts.
    """

    def __init__(self, jobs: Mapping[str, Job], prepare: Callable[[], object]) -> None:
        self.jobs = jobs
        self.results: dict[str, Tensor | Exception] = {}
        self._prepare = prepare
        self._runners: dict[str, Runner] = {}
        self._wanted: dict[str, Wanted] = {}

    def run(self) -> dict[str, Tensor | Exception]:
        """Each job's result, or what it has raised."""
        with torch.inference_mode(False), _collecting_later():
            try:
                for name, job in self.jobs.items():
                    runner = self._runners[name] = Runner(job, getcurrent())
                    assert runner.gr_context is not None
                    runner.gr_context.run(self._prepare)
                    self._resume(name)
                while self._wanted:
                    self._answer_some()
            finally:
                for runner in self._runners.values():
                    if not runner.dead:
                        runner.throw()  # those that still wait clean up and end
            for name, job in self.jobs.items():
                if name not in self.results:
                    self.results[name] = _result_of(job)
        return {name: self.results[name] for name in self.jobs}

    def _resume(self, name: str, *answer: object) -> None:
        """Let a stream go on until it waits again or ends."""
        runner = self._runners[name]
        self._wanted.pop(name, None)
        try:
            wanted = runner.switch(*answer)
        except Exception as error:
            self.results[name] = error
            return
        if runner.dead:
            self.results[name] = wanted
        else:
            self._wanted[name] = wanted

    def _answer_some(self) -> None:
        """Make what comes first of all that is wanted, for all that want the same kind of it."""
        first = min(wanted.rank for wanted in self._wanted.values())
        kinds: dict[Hashable, list[str]] = {}
        for name in self.jobs:
            wanted = self._wanted.get(name)
            if wanted is not None and wanted.rank == first:
                kinds.setdefault(wanted.kind, []).append(name)
        names = next(iter(kinds.values()))
        things = [self._wanted[name].thing for name in names]
        try:
            answers = self._wanted[names[0]].make(things)
        except Exception:
            self._send_apart(names)
            return
        for name, answer in zip(names, answers, strict=True):
            self._resume(name, answer)

    def _send_apart(self, names: list[str]) -> None:
        """Give up what these streams have begun; they step one by one later."""
        for name in names:
            del self._wanted[name]
            try:
                self._runners[name].throw(Apart())
            except (Apart, Exception):
                continue


@contextmanager
def _collecting_later() -> Iterator[None]:
    """Let garbage wait: a step makes thousands of small tensors, and looking through all of them
    for cycles takes a tenth of its time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _result_of(job: Job) -> Tensor | Exception:
    try:
        return job()
    except Exception as error:
        return error
