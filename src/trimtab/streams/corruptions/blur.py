"""Blur: defocus, glass, motion, zoom and Gaussian."""

import math
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from trimtab.streams.corruptions.convolve import Kernel, blur_along_lines, filter_bytes, smooth
from trimtab.streams.corruptions.convolve import gaussian as gaussian_weights
from trimtab.streams.corruptions.pixels import to_bytes
from trimtab.streams.corruptions.scatter import scatter_pixels
from trimtab.streams.draws import Draws

MOTION_DEGREES = (-45.0, 45.0)


def gaussian_blur(images: Tensor, draws: Draws, sigma: float) -> Tensor:
    """A Gaussian blur, edges repeated."""
    return to_bytes(smooth(images, sigma))


def defocus_blur(images: Tensor, draws: Draws, radius: float, edge: float) -> Tensor:
    """The blur of a lens out of focus: the mean over a disk with a soft edge."""
    return to_bytes(filter_bytes(images, disk(radius, edge)))


def glass_blur(images: Tensor, draws: Draws, sigma: float, shift: float, passes: float) -> Tensor:
    """Frosted glass: pixels replaced by near ones, between two Gaussian blurs."""
    blurred = to_bytes(smooth(images, sigma))
    scattered = scatter_pixels(blurred, draws, int(shift), int(passes))
    return to_bytes(smooth(scattered, sigma))


def motion_blur(images: Tensor, draws: Draws, radius: float, sigma: float) -> Tensor:
    """A fading line from each pixel outwards, at an angle of the image's own."""
    low, high = (math.radians(angle) for angle in MOTION_DEGREES)
    angles = draws.uniform(low=low, high=high)
    return to_bytes(blur_along_lines(images, int(radius), sigma, angles))


def zoom_blur(images: Tensor, draws: Draws, stop: float, step: float) -> Tensor:
    """The mean of the image and of zooms into its centre."""
    planes = images.permute(0, 3, 1, 2)
    factors = np.arange(1, stop, step).tolist()
    total = planes.float()
    for factor in factors:
        total += zoom(planes, factor)
    return to_bytes((total / (len(factors) + 1)).permute(0, 2, 3, 1).contiguous())


def zoom(planes: Tensor, factor: float) -> Tensor:
    """The centre of ``planes`` (batch x channels x height x width) enlarged bilinearly."""
    height, width = planes.shape[2:]
    rows, columns = math.ceil(height / factor), math.ceil(width / factor)
    top, left = (height - rows) // 2, (width - columns) // 2
    centre = planes[:, :, top : top + rows, left : left + columns]
    size = (max(height, round(rows * factor)), max(width, round(columns * factor)))
    larger = functional.interpolate(centre, size=size, mode="bilinear", align_corners=True)
    return larger[:, :, :height, :width]


@lru_cache(maxsize=16)
def disk(radius: float, edge: float) -> Kernel:
    """A disk's kernel, its edge softened by a Gaussian of sigma ``edge`` over 3 or 5 pixels.

    Softening reflects at the kernel's border. Where the disk touches it (radius 8 and more) the
    kernel therefore sums to a little over 1, as that of ``imagecorruptions-imaug`` does.
    """
    reach = 8 if radius <= 8 else math.ceil(radius)
    steps = np.arange(-reach, reach + 1)
    inside = (steps[:, None] ** 2 + steps[None, :] ** 2 <= radius**2).astype(np.float64)
    taps = gaussian_weights(edge, truncate=(1 if radius <= 8 else 2) / edge)
    field = torch.from_numpy(inside / inside.sum())[None]
    return _soften(field, taps)[0].numpy()


def _soften(field: Tensor, taps: Kernel) -> Tensor:
    margin = len(taps) // 2
    weights = torch.from_numpy(np.outer(taps, taps))[None, None]
    padded = functional.pad(field[:, None], (margin,) * 4, mode="reflect")
    return functional.conv2d(padded, weights)[:, 0]
