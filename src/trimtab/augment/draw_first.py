"""Alterations of images that draw first and apply afterwards.

What is random is drawn from the size of the images alone, so that images of many streams, each with
draws of its own generator, can be altered in one call.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

Draw = TypeVar("Draw")


class DrawFirst(Generic[Draw]):
    """Draws, then applies: ``apply(images, draw(generator, images.shape))`` is a call."""

    @property
    def draws_for_any_number(self) -> bool:
        """Whether a draw is the same for any number of images and each is altered by itself."""
        return False

    @abstractmethod
    def draw(self, generator: torch.Generator, shape: torch.Size) -> Draw:
        """All that is random about the alteration of images of this shape, on the CPU."""

    @abstractmethod
    def apply(self, images: Tensor, draw: Draw) -> Tensor:
        """Altered copies of the images; nothing is random any more."""

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """Altered copies of the images."""
        return ALTERING.get()(self, images, self.draw(generator, images.shape))

    def apply_each(self, images: Sequence[Tensor], draws: Sequence[Draw]) -> list[Tensor]:
        """What ``apply`` makes of each batch with its draw; batches differ in size at most."""
        return [self.apply(batch, draw) for batch, draw in zip(images, draws, strict=True)]


def _at_once(alteration: DrawFirst[Any], images: Tensor, draw: Any) -> Tensor:
    return alteration.apply(images, draw)


ALTERING: ContextVar[Callable[[DrawFirst[Any], Tensor, Any], Tensor]] = ContextVar(
    "ALTERING", default=_at_once
)
"""Who alters images once all is drawn. Streams that step together let theirs be altered in one
call."""
