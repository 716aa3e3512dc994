"""Image augmentation in plain torch, decided by a generator."""

from dataclasses import dataclass
from math import cos, radians, sin

import torch
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample

Range = tuple[float, float]

LUMA = (0.299, 0.587, 0.114)
"""Shares of red, green and blue in an image's grey value."""


@dataclass(frozen=True)
class ColorAffineFlip:
    """Colour jitter, a reflecting affine warp and a flip: ROID's augmentation (arXiv:2306.00650).

    One draw serves the whole batch. Images are (batch, channels, height, width) in [0, 1];
    saturation and hue are left alone where there are not three channels.

    Args:
        rotation: Largest angle either way, in degrees.
        translation: Largest shift along each axis, as a share of that side.
    """

    brightness: Range = (0.6, 1.4)
    contrast: Range = (0.7, 1.3)
    saturation: Range = (0.5, 1.5)
    hue: Range = (-0.06, 0.06)
    gamma: Range = (0.7, 1.3)
    rotation: float = 15.0
    translation: float = 1 / 8
    scale: Range = (0.9, 1.1)
    flip_probability: float = 0.5

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """Augmented copies of the images."""
        if images.dim() != 4:
            raise ValueError(
                "this augmentation takes images of shape (batch, channels, height, width), got "
                f"{tuple(images.shape)}; pass augment= with one of your own, or consistency=False"
            )
        colored = self._color(images.float().clamp(0, 1), generator)
        return self._warp(colored, generator).clamp(0, 1).to(images.dtype)

    def _color(self, images: Tensor, generator: torch.Generator) -> Tensor:
        colorful = images.shape[1] == 3
        for index in torch.randperm(5, generator=generator).tolist():
            name = ("brightness", "contrast", "saturation", "hue", "gamma")[index]
            amount = uniform(getattr(self, name), generator)
            if colorful or name not in ("saturation", "hue"):
                images = _COLOR_CHANGES[name](images, amount)
        return images

    def _warp(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """Rotate, shift, scale and flip in one sampling; what lies outside is a reflection."""
        height, width = images.shape[-2:]
        angle = radians(uniform((-self.rotation, self.rotation), generator))
        scale = uniform(self.scale, generator)
        shifts = [
            float(round(uniform((-self.translation * side, self.translation * side), generator)))
            for side in (width, height)
        ]
        mirror = -1.0 if uniform((0.0, 1.0), generator) < self.flip_probability else 1.0
        return warp(images, angle, scale, (shifts[0], shifts[1]), mirror)


def uniform(between: Range, generator: torch.Generator) -> float:
    """A number drawn evenly from a range."""
    low, high = between
    return low + (high - low) * float(torch.rand((), generator=generator, dtype=torch.float64))


def warp(images: Tensor, angle: float, scale: float, shift: Range, mirror: float) -> Tensor:
    """Images turned by ``angle`` (radians), scaled, shifted (pixels right, down), then mirrored.

    Each output pixel looks up where it came from: unmirror, unshift, turn back, unscale.
    """
    height, width = images.shape[-2:]
    # affine_grid counts from -1 to 1 between the outermost pixel centres
    half_width, half_height = max(width - 1, 1) / 2, max(height - 1, 1) / 2
    cosine, sine = cos(angle) / scale, sin(angle) / scale
    matrix = [
        [cosine * mirror, sine * half_height / half_width],
        [-sine * mirror * half_width / half_height, cosine],
    ]
    right, down = shift
    offset = [
        -(cosine * right + sine * down) / half_width,
        -(-sine * right + cosine * down) / half_height,
    ]
    theta = torch.tensor([[*matrix[0], offset[0]], [*matrix[1], offset[1]]], dtype=images.dtype)
    grid = affine_grid(theta[None].to(images.device), [1, 1, height, width], align_corners=True)
    return grid_sample(
        images,
        grid.expand(len(images), -1, -1, -1),
        mode="bilinear",
        padding_mode="reflection",
        align_corners=True,
    )


def grey(images: Tensor) -> Tensor:
    """Grey value of each pixel, one channel."""
    if images.shape[1] != 3:
        return images.mean(1, keepdim=True)
    shares = images.new_tensor(LUMA).view(1, 3, 1, 1)
    return (images * shares).sum(1, keepdim=True)


def _brightness(images: Tensor, factor: float) -> Tensor:
    return (images * factor).clamp(0, 1)


def _contrast(images: Tensor, factor: float) -> Tensor:
    mean = grey(images).mean((1, 2, 3), keepdim=True)
    return torch.lerp(mean, images, factor).clamp(0, 1)


def _saturation(images: Tensor, factor: float) -> Tensor:
    return torch.lerp(grey(images), images, factor).clamp(0, 1)


def _gamma(images: Tensor, exponent: float) -> Tensor:
    return images.clamp(1e-8, 1).pow(exponent)


def shift_hue(images: Tensor, turn: float) -> Tensor:
    """RGB images with their hue moved by ``turn`` of the colour circle.

    A colour is value - chroma * ramp(hue), with one ramp for each channel; so the hue can be
    found, moved and turned back without a table of cases.
    """
    value, smallest = images.amax(1, keepdim=True), images.amin(1, keepdim=True)
    chroma = value - smallest
    safe = torch.where(chroma > 0, chroma, torch.ones_like(chroma))
    red, green, blue = ((value - images) / safe).unbind(1)
    sixths = torch.where(
        images[:, 0] == value[:, 0],
        blue - green,
        torch.where(images[:, 1] == value[:, 0], 2 + red - blue, 4 + green - red),
    )
    moved = sixths + 6 * turn
    starts = images.new_tensor([5.0, 3.0, 1.0]).view(1, 3, 1, 1)
    position = (starts + moved[:, None]) % 6
    ramp = torch.minimum(position, 4 - position).clamp(0, 1)
    return (value - chroma * ramp).clamp(0, 1)


_COLOR_CHANGES = {
    "brightness": _brightness,
    "contrast": _contrast,
    "saturation": _saturation,
    "hue": shift_hue,
    "gamma": _gamma,
}
