"""Passes of many streams merged into few: each stream waits where it wants the network.

Every stream's step runs in a greenlet, as plain code that can wait. When all of them wait, what
they ask for is made as one pass, and each goes on with its part. Methods know nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import copy_context
from typing import Any

import torch
from greenlet import getcurrent, greenlet
from torch import Tensor

from trimtab.core import joint
from trimtab.core.backbone import Backbone, Prediction, Tensors
from trimtab.core.joint import Piece, Request
from trimtab.core.norm import NormPolicy
from trimtab.core.passes import Alone

Job = Callable[[], Tensor]
"""One stream's step."""


class Apart(BaseException):
    """A merged pass has failed: its streams are to step one by one, so that it hurts one only."""


class Runner(greenlet):
    """Runs one stream's job, which waits whenever it needs the network."""

    def __init__(self, job: Job, hub: greenlet) -> None:
        super().__init__(job, hub)
        self.gr_context = copy_context()
        self.pieces: list[Piece] = []

    def wait(self, wanted: object) -> Any:
        """What the hub answers; gradient and inference mode are this stream's again afterwards."""
        assert self.parent is not None
        with torch.inference_mode(False):
            return self.parent.switch(wanted)


class Together:
    """Passes that are merged with those of other streams while a hub runs them, else alone."""

    def __init__(self, backbone: Backbone) -> None:
        self.backbone = backbone
        self._alone = Alone(backbone)

    def forward(
        self,
        inputs: Tensor,
        params: Tensors,
        statistics: Tensors,
        policy: NormPolicy,
        *,
        grad: bool,
    ) -> Prediction:
        runner, request = getcurrent(), Request(inputs, params, statistics, policy, grad)
        if not isinstance(runner, Runner) or not request.fits(self.backbone):
            return self._alone.forward(inputs, params, statistics, policy, grad=grad)
        piece: Piece | None = runner.wait(request)
        if piece is None:
            return self._alone.forward(inputs, params, statistics, policy, grad=grad)
        if request.learns:
            runner.pieces.append(piece)
        return piece.prediction

    def backward(self, loss: Tensor) -> None:
        loss.backward()  # through what is the stream's own; network passes end in pieces
        runner = getcurrent()
        if not isinstance(runner, Runner):
            return
        due = [piece for piece in runner.pieces if piece.is_due]
        if not due:
            return
        runner.pieces = [piece for piece in runner.pieces if piece not in due]
        for piece, grads in zip(due, runner.wait(due), strict=True):
            joint.hand_over(piece.request.params, grads)


class Hub:
    """Runs jobs of streams together.

    Args:
        jobs: By the streams' names; they run in this order wherever one could come first.
    """

    def __init__(self, backbone: Backbone, jobs: Mapping[str, Job]) -> None:
        self.backbone = backbone
        self.jobs = jobs
        self.results: dict[str, Tensor | Exception] = {}
        self._runners: dict[str, Runner] = {}
        self._wanted: dict[str, Request | list[Piece]] = {}

    def run(self) -> dict[str, Tensor | Exception]:
        """Each job's result, or what it has raised."""
        with torch.inference_mode(False):
            try:
                for name, job in self.jobs.items():
                    self._runners[name] = Runner(job, getcurrent())
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

    def _send_apart(self, names: list[str]) -> None:
        """Give up what these streams have begun; they step one by one later."""
        for name in names:
            del self._wanted[name]
            try:
                self._runners[name].throw(Apart())
            except (Apart, Exception):
                continue

    def _answer_some(self) -> None:
        """Passes forward before backward, and without gradients first, so that streams meet."""
        kinds: dict[Any, list[str]] = {}
        for name in sorted(self._wanted):
            wanted = self._wanted[name]
            if isinstance(wanted, Request):
                kinds.setdefault((wanted.grad, wanted.kind), []).append(name)
        if not kinds:
            self._go_backward(sorted(self._wanted))
            return
        first = min(kinds, key=lambda kind: kind[0])
        self._go_forward(kinds[first])

    def _go_forward(self, names: list[str]) -> None:
        if len(names) == 1:
            self._resume(names[0], None)  # nobody to join: the pass is its own
            return
        requests = [self._wanted[name] for name in names]
        try:
            pieces = joint.forward(self.backbone, requests).pieces  # type: ignore[arg-type]
        except Exception:
            self._send_apart(names)
            return
        for name, piece in zip(names, pieces, strict=True):
            self._resume(name, piece)

    def _go_backward(self, names: list[str]) -> None:
        wanted = {name: self._wanted[name] for name in names}
        due = [piece for name in names for piece in wanted[name]]  # type: ignore[union-attr]
        later = [piece for name in names for piece in self._runners[name].pieces]
        try:
            grads = joint.backward(due, later)
        except Exception:
            self._send_apart(names)
            return
        for name in names:
            self._resume(name, [grads[piece] for piece in wanted[name]])  # type: ignore[union-attr]


def _result_of(job: Job) -> Tensor | Exception:
    try:
        return job()
    except Exception as error:
        return error
