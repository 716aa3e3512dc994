"""Alterations of images that draw first and apply afterwards.

What is random is drawn from the size of the images alone, so that images of many streams, each with
draws of its own generator, can be altered in one call.
"""

from abc import abstractmethod
from typing import Generic, TypeVar

import torch
from torch import Tensor

Draw = TypeVar("Draw")


class DrawFirst(Generic[Draw]):
    """Draws, then applies: ``apply(images, draw(generator, images.shape))`` is a call."""

    @abstractmethod
    def draw(self, generator: torch.Generator, shape: torch.Size) -> Draw:
        """All that is random about the alteration of images of this shape, on the CPU."""

    @abstractmethod
    def apply(self, images: Tensor, draw: Draw) -> Tensor:
        """Altered copies of the images; nothing is random any more."""

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """Altered copies of the images."""
        return self.apply(images, self.draw(generator, images.shape))
