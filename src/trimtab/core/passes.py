"""The only way from a step to the network: two verbs, forward and backward, one that takes losses
and goes backward at once, and one to move.

Who makes the passes, and the optimiser's steps that follow from them, is exchangeable (alone,
together with other streams, over several processes); a step never knows.
"""

from typing import Protocol

import torch
from torch import Tensor

from trimtab.core.backbone import Backbone, Tensors
from trimtab.core.lesson import Descent, Lesson
from trimtab.core.moves import Move, Moved, move
from trimtab.core.norm import NormPolicy
from trimtab.core.prediction import Prediction


class Passes(Protocol):
    """Makes the passes that a step asks for."""

    def forward(
        self,
        inputs: Tensor,
        params: Tensors,
        statistics: Tensors,
        policy: NormPolicy,
        *,
        grad: bool,
    ) -> Prediction:
        """Predict under one stream's parameters and statistics.

        Statistics that the policy keeps are changed in place. With ``grad`` the prediction has a
        graph that ``backward`` can go through, whatever the caller's gradient mode.
        """

    def backward(self, loss: Tensor) -> None:
        """Add the gradients of a loss, a scalar, to the ``grad`` of the tensors it came from."""

    def descend(self, lesson: Lesson) -> Descent | None:
        """Add the gradients of a lesson's loss; None, and nothing, where it is not finite."""

    def move(self, asked: Move) -> Moved | None:
        """A step of an optimiser along the gradients; None where these are not finite."""


class Alone:
    """Passes of one stream, each made as soon as it is asked for."""

    def __init__(self, backbone: Backbone) -> None:
        self.backbone = backbone

    def forward(
        self,
        inputs: Tensor,
        params: Tensors,
        statistics: Tensors,
        policy: NormPolicy,
        *,
        grad: bool,
    ) -> Prediction:
        with torch.set_grad_enabled(grad):
            return self.backbone(inputs, params, statistics, policy)

    def backward(self, loss: Tensor) -> None:
        loss.backward()

    def descend(self, lesson: Lesson) -> Descent | None:
        return lesson.alone(self.backward)

    def move(self, asked: Move) -> Moved | None:
        return move(asked)
