"""Object-destructive transformations: patch or pixel shuffling and occlusion (for PLPD)."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import interpolate

from trimtab.augment.draw_first import DrawFirst


@dataclass(frozen=True)
class PatchShuffle(DrawFirst[Tensor]):
    """Cut each image into ``side`` x ``side`` patches and shuffle them, each image on its own.

    An image whose sides do not divide is resized for it and back.
    """

    side: int = 4

    def __post_init__(self) -> None:
        if self.side < 1:
            raise ValueError(f"side must be at least 1 patch, got {self.side}")

    def draw(self, generator: torch.Generator, shape: torch.Size) -> Tensor:
        """The patches' order in each image, shape (batch, patches)."""
        _check(shape)
        return torch.rand(shape[0], self.side**2, generator=generator).argsort(1)

    def apply(self, images: Tensor, draw: Tensor) -> Tensor:
        size = [max(length // self.side, 1) * self.side for length in images.shape[-2:]]
        patches = _to_patches(_resized(images, size), self.side)
        order = draw.to(images.device)
        shuffled = patches[torch.arange(len(images), device=images.device)[:, None], order]
        return _resized(_from_patches(shuffled, self.side, size), list(images.shape[-2:]))


@dataclass(frozen=True)
class PixelShuffle(DrawFirst[Tensor]):
    """Shuffle the pixels of each image, each image on its own."""

    def draw(self, generator: torch.Generator, shape: torch.Size) -> Tensor:
        """The pixels' order in each image, shape (batch, pixels)."""
        _check(shape)
        return torch.rand(shape[0], shape[2] * shape[3], generator=generator).argsort(1)

    def apply(self, images: Tensor, draw: Tensor) -> Tensor:
        pixels = images.flatten(2)
        order = draw.to(images.device)[:, None].expand_as(pixels)
        return pixels.gather(2, order).view_as(images)


@dataclass(frozen=True)
class Occlusion(DrawFirst[None]):
    """Cover the centre of each image, half as wide and high, with the image's mean colour."""

    def draw(self, generator: torch.Generator, shape: torch.Size) -> None:
        """Nothing is drawn."""
        _check(shape)

    def apply(self, images: Tensor, draw: None) -> Tensor:
        height, width = images.shape[-2:]
        covered = images.clone()
        rows = slice(height // 4, height // 4 + height // 2)
        columns = slice(width // 4, width // 4 + width // 2)
        covered[:, :, rows, columns] = images.mean((2, 3), keepdim=True)
        return covered


DESTRUCTIONS: dict[str, Callable[[], Callable[[Tensor, torch.Generator], Tensor]]] = {
    "occlusion": Occlusion,
    "patches": PatchShuffle,
    "pixels": PixelShuffle,
}


def _check(shape: torch.Size) -> None:
    if len(shape) != 4:
        raise ValueError(
            "this destruction takes images of shape (batch, channels, height, width), got "
            f"{tuple(shape)}; give one of your own, a function of inputs and a generator"
        )


def _resized(images: Tensor, size: list[int]) -> Tensor:
    if list(images.shape[-2:]) == size:
        return images
    return interpolate(images, size=size, mode="bilinear", align_corners=False)


def _to_patches(images: Tensor, side: int) -> Tensor:
    """(batch, patches, channels, patch height, patch width), row by row."""
    batch, channels, height, width = images.shape
    cut = images.reshape(batch, channels, side, height // side, side, width // side)
    return cut.permute(0, 2, 4, 1, 3, 5).flatten(1, 2)


def _from_patches(patches: Tensor, side: int, size: list[int]) -> Tensor:
    """Images of this size, from what ``_to_patches`` made."""
    batch, _, channels, height, width = patches.shape
    grid = patches.reshape(batch, side, side, channels, height, width)
    return grid.permute(0, 3, 1, 4, 2, 5).reshape(batch, channels, *size)
