"""Passes of many streams merged into few, and the work beside the network with them.

Outside of a hub, and where a pass cannot be merged, a stream's passes are its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any

from torch import Tensor

from trimtab.augment.draw_first import ALTERING, DrawFirst
from trimtab.core import joint
from trimtab.core.backbone import Backbone, Tensors
from trimtab.core.joint import Piece, Request
from trimtab.core.lesson import Descent, Lesson
from trimtab.core.moves import Move, Moved, move, move_together
from trimtab.core.norm import NormPolicy
from trimtab.core.passes import Alone
from trimtab.core.prediction import Prediction
from trimtab.fleets import lessons
from trimtab.fleets.hub import Hub, Job, Runner, Wanted, running

ALTER, FORWARD, FORWARD_WITH_GRADIENTS, BACKWARD, MOVE = range(5)
"""What is made first, so that streams meet at what comes later."""


class Together:
    """Passes that are merged with those of other streams while a hub runs them, else alone."""

    def __init__(self, backbone: Backbone) -> None:
        self.backbone = backbone
        self._alone = Alone(backbone)
        self._apart: dict[Hashable, bool] = {}  # which kinds of inputs can be merged

    def run(self, jobs: Mapping[str, Job]) -> dict[str, Tensor | Exception]:
        """Each job's result, or what it has raised; the jobs use these passes."""
        return Hub(jobs, partial(ALTERING.set, _alter)).run()

    def forward(
        self,
        inputs: Tensor,
        params: Tensors,
        statistics: Tensors,
        policy: NormPolicy,
        *,
        grad: bool,
    ) -> Prediction:
        runner, request = running(), Request(inputs, params, statistics, policy, grad)
        piece: Piece | None = None
        if runner is not None and request.fits(self.backbone):
            rank = FORWARD_WITH_GRADIENTS if grad else FORWARD
            piece = runner.wait(Wanted(rank, request.kind, request, self._forward))
        if runner is None or piece is None:
            return self._alone.forward(inputs, params, statistics, policy, grad=grad)
        if request.learns:
            runner.pieces.append(piece)
        return piece.prediction

    def _forward(self, requests: list[Request]) -> list[Piece | None]:
        kind, inputs = joint.kind_of(requests[0].inputs), requests[0].inputs
        if len(requests) > 1 and kind not in self._apart:
            self._apart[kind] = joint.keeps_apart(self.backbone, inputs[:1])
        if len(requests) == 1 or not self._apart[kind]:
            return [None] * len(requests)  # the passes are their own
        return [*joint.forward(self.backbone, requests).pieces]

    def backward(self, loss: Tensor) -> None:
        loss.backward()  # through what is the stream's own; merged passes end in pieces
        runner = running()
        if runner is None or not any(piece.is_due for piece in runner.pieces):
            return
        for piece, row in runner.wait(Wanted(BACKWARD, None, runner, _backward)).items():
            joint.hand_over(piece, row)

    def descend(self, lesson: Lesson) -> Descent | None:
        runner = running()
        if runner is None or not lesson.rowwise:
            return lesson.alone(self.backward)
        list(lesson.predictions())  # views pass the network before all streams meet
        asked = Wanted(BACKWARD, lesson.kind, (lesson, runner), _descend)
        losses, found = runner.wait(asked)
        if losses is None:
            return None
        row = joint.row_gradient(found) if lesson.flat and found else None
        if row is None:
            for piece, own in found.items():
                joint.hand_over(piece, own)
        return Descent(losses, row)

    def move(self, asked: Move) -> Moved | None:
        runner, kind = running(), asked.kind
        if runner is None or kind is None:
            return move(asked)
        moved: Moved | None = runner.wait(Wanted(MOVE, kind, asked, move_together))
        return moved


def _backward(runners: list[Runner]) -> list[dict[Piece, Tensor]]:
    """Rows of gradients of each stream's pieces that gradients have come to."""
    due = [[piece for piece in runner.pieces if piece.is_due] for runner in runners]
    for runner, own in zip(runners, due, strict=True):
        runner.pieces = [piece for piece in runner.pieces if piece not in own]
    rows = joint.backward(
        [piece for own in due for piece in own],
        [piece for runner in runners for piece in runner.pieces],
    )
    return [{piece: rows[piece] for piece in own} for own in due]


def _descend(
    asked: list[tuple[Lesson, Runner]],
) -> list[tuple[Tensor | None, dict[Piece, Tensor]]]:
    losses = lessons.descend([lesson for lesson, _ in asked])
    return [*zip(losses, _backward([runner for _, runner in asked]), strict=True)]


def _alter(alteration: DrawFirst[Any], images: Tensor, draw: Any) -> Tensor:
    """Alter a stream's images together with those of others, where they are altered alike."""
    runner = running()
    kind = alteration, joint.kind_of(images)
    if runner is None or not _is_hashable(kind):
        return alteration.apply(images, draw)
    make = partial(_alter_all, alteration)
    altered: Tensor = runner.wait(Wanted(ALTER, kind, (images, draw), make))
    return altered


def _alter_all(alteration: DrawFirst[Any], asked: list[tuple[Tensor, Any]]) -> list[Tensor]:
    return alteration.apply_each([images for images, _ in asked], [draw for _, draw in asked])


def _is_hashable(kind: object) -> bool:
    try:
        hash(kind)
    except TypeError:
        return False
    return True
