"""Warps and blurs of images."""

from math import cos, sin
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import affine_grid, conv2d, grid_sample

Range = tuple[float, float]
Padding = Literal["reflection", "border"]


def blur(images: Tensor, deviation: float, radius: int) -> Tensor:
    """Gaussian blur where the kernel fits: ``radius`` pixels fewer on each side.

    Args:
        deviation: Standard deviation in pixels.
    """
    offsets = torch.arange(-radius, radius + 1, dtype=torch.float64)
    line = torch.exp(-0.5 * (offsets / deviation).square())
    line = (line / line.sum()).to(images)
    channels = images.shape[1]
    down = line.view(1, 1, -1, 1).expand(channels, 1, -1, 1)
    across = line.view(1, 1, 1, -1).expand(channels, 1, 1, -1)
    return conv2d(conv2d(images, down, groups=channels), across, groups=channels)


def warp(
    images: Tensor,
    angle: float,
    scale: float,
    shift: Range,
    mirror: float,
    padding: Padding = "reflection",
    margin: int = 0,
) -> Tensor:
    """Images turned by ``angle`` (radians), scaled, shifted (pixels right, down), then mirrored.

    Each output pixel looks up where it came from: unmirror, unshift, turn back, unscale.

    Args:
        padding: What lies outside an image: its ``"reflection"``, or its ``"border"`` repeated.
        margin: Pixels of the surroundings to show on each side beyond the image's own size.
    """
    grid = grid_of(images, angle, scale, shift, mirror, margin)
    return sampled(images, grid.expand(len(images), -1, -1, -1), padding)


def sampled(images: Tensor, grid: Tensor, padding: Padding) -> Tensor:
    """Images whose pixels are looked up where a grid, shape (batch, height, width, 2), says."""
    return grid_sample(images, grid, mode="bilinear", padding_mode=padding, align_corners=True)


def grid_of(
    images: Tensor, angle: float, scale: float, shift: Range, mirror: float, margin: int = 0
) -> Tensor:
    """Where each pixel of a warped image comes from, shape (1, height, width, 2)."""
    height, width = images.shape[-2:]
    # affine_grid counts from -1 to 1 between the outermost pixel centres
    half_width, half_height = max(width - 1, 1) / 2, max(height - 1, 1) / 2
    wider, higher = 1 + margin / half_width, 1 + margin / half_height
    cosine, sine = cos(angle) / scale, sin(angle) / scale
    matrix = [
        [cosine * mirror * wider, sine * half_height / half_width * higher],
        [-sine * mirror * half_width / half_height * wider, cosine * higher],
    ]
    right, down = shift
    offset = [
        -(cosine * right + sine * down) / half_width,
        -(-sine * right + cosine * down) / half_height,
    ]
    theta = torch.tensor([[*matrix[0], offset[0]], [*matrix[1], offset[1]]], dtype=images.dtype)
    size = [1, 1, height + 2 * margin, width + 2 * margin]
    return affine_grid(theta[None].to(images.device), size, align_corners=True)
