"""Blurs whose bytes do not depend on how many images share a batch.

A sum of products is exact, hence the same in every order, while all its terms are whole numbers
small enough for the float type. Kernels over 8-bit images are therefore rounded to whole 65,536ths.
"""

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from trimtab.streams.corruptions.pixels import extend, source_index

ONE = 1 << 16
"""What a fixed-point kernel that sums to 1 adds up to: 255 * ONE fits into float32's 24 bits."""

_MOST_TAPS = 64  # beyond so many, a transform or a matrix product is faster than shifting

Kernel = npt.NDArray[np.float64]


def fixed_point(kernel: Kernel) -> Kernel:
    """``kernel`` in whole ``ONE``-ths with the same sum."""
    exact = kernel * ONE
    rounded = np.floor(exact)
    missing = round(exact.sum() - rounded.sum())
    largest_remainders = np.argsort(rounded - exact, axis=None, kind="stable")[:missing]
    rounded.reshape(-1)[largest_remainders] += 1
    return rounded


def filter_bytes(images: Tensor, kernel: Kernel) -> Tensor:
    """uint8 ``images`` correlated with an odd-sized ``kernel``, reflected at the border; 0..255."""
    whole = _trim(fixed_point(kernel))
    rows, columns = whole.shape[0] // 2, whole.shape[1] // 2
    padded = extend(images, rows, columns, "reflect")
    if whole.size <= _MOST_TAPS:
        total = _each_channel(padded.float(), torch.from_numpy(whole).float())
    else:
        total = _by_fourier(padded, whole)
    return total.div_(ONE)


def smooth(fields: Tensor, sigma: float, *, border: str = "edge", truncate: float = 4.0) -> Tensor:
    """``fields`` (batch x height x width x channels) smoothed along both axes, as float32."""
    weights = gaussian(sigma, truncate)
    radius = len(weights) // 2
    if radius == 0:
        return fields.to(torch.float32, copy=True)
    if len(weights) > _MOST_TAPS:
        return _smooth_by_matrices(fields, weights, border)
    taps = torch.from_numpy(weights).float()
    extended = extend(fields, radius, radius, border).float()
    return _along_rows(_along_columns(extended, taps), taps)


def gaussian(sigma: float, truncate: float = 4.0) -> Kernel:
    """A sampled Gaussian that ends after ``truncate`` sigmas and sums to 1."""
    radius = int(truncate * sigma + 0.5)
    if radius == 0:
        return np.ones(1)
    weights = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    return np.asarray(weights / weights.sum())


def _trim(kernel: Kernel) -> Kernel:
    """``kernel`` without the rings of zeros around it."""
    while min(kernel.shape) > 1 and not _ring(kernel).any():
        kernel = kernel[1:-1, 1:-1]
    return kernel


def _ring(kernel: Kernel) -> Kernel:
    return np.concatenate([kernel[0], kernel[-1], kernel[:, 0], kernel[:, -1]])


def _by_fourier(padded: Tensor, kernel: Kernel) -> Tensor:
    """The same whole numbers: float64 rounding noise stays far below a half."""
    size = (_fast_length(padded.shape[1]), _fast_length(padded.shape[2]))
    planes = padded.permute(0, 3, 1, 2).to(torch.float64, memory_format=torch.contiguous_format)
    response = _response(kernel.tobytes(), kernel.shape, size)
    total = torch.fft.irfft2(torch.fft.rfft2(planes, s=size).mul_(response), s=size)
    top, left = kernel.shape[0] - 1, kernel.shape[1] - 1
    valid: Tensor = total[:, :, top : padded.shape[1], left : padded.shape[2]].round()
    return torch.stack(valid.float().unbind(1), dim=3)


@lru_cache(maxsize=8)
def _response(kernel: bytes, shape: tuple[int, ...], size: tuple[int, int]) -> Tensor:
    """The spectrum of the float64 ``kernel`` turned by 180 degrees."""
    weights = np.frombuffer(kernel).reshape(shape)[::-1, ::-1].copy()
    spectrum: Tensor = torch.fft.rfft2(torch.from_numpy(weights), s=size)
    return spectrum


def _fast_length(side: int) -> int:
    """The next length that has no prime factor above 5."""
    length = side
    while _without_factors(length) != 1:
        length += 1
    return length


def _without_factors(length: int) -> int:
    for factor in (2, 3, 5):
        while length % factor == 0:
            length //= factor
    return length


def _along_columns(fields: Tensor, taps: Tensor) -> Tensor:
    """Weighted sums over ``len(taps)`` neighbours down each column, where all of them exist.

    A whole row counts as the channels of one pixel, which are filtered side by side.
    """
    count, height, *row = fields.shape
    flat = fields.reshape(count, height, 1, -1)
    summed = _each_channel(flat, taps.reshape(-1, 1))
    return summed.reshape(count, -1, *row)


def _along_rows(fields: Tensor, taps: Tensor) -> Tensor:
    """The same along each row."""
    return _each_channel(fields, taps.reshape(1, -1))


def _each_channel(fields: Tensor, kernel: Tensor) -> Tensor:
    """``fields`` correlated with ``kernel``, every channel by itself; terms are added in order."""
    channels = fields.shape[3]
    weights = kernel.expand(channels, 1, *kernel.shape)
    weights = weights.contiguous(memory_format=torch.channels_last)
    summed = functional.conv2d(fields.permute(0, 3, 1, 2), weights, groups=channels)
    return summed.permute(0, 2, 3, 1).contiguous()


def _smooth_by_matrices(fields: Tensor, weights: Kernel, border: str) -> Tensor:
    """In float64, whose noise vanishes in float32: a matrix product has no fixed order."""
    rows = _smoothing_matrix(fields.shape[1], weights.tobytes(), border)
    columns = _smoothing_matrix(fields.shape[2], weights.tobytes(), border)
    smoothed = fields.double()
    smoothed = torch.einsum("ij,njw...->niw...", rows, smoothed)
    return torch.einsum("ij,nhj...->nhi...", columns, smoothed).float()


@lru_cache(maxsize=8)
def _smoothing_matrix(size: int, kernel: bytes, border: str) -> Tensor:
    weights = np.frombuffer(kernel).copy()
    radius = len(weights) // 2
    source = source_index(size, radius, border).unfold(0, len(weights), 1)
    values = torch.from_numpy(weights).expand(size, -1)
    return torch.zeros(size, size, dtype=torch.float64).scatter_add_(1, source, values)


def line_offsets(radius: int, sigma: float, angle: float) -> list[tuple[int, int, float]]:
    """Rows down, columns right and fixed-point weight of each pixel along a fading line.

    As ImageMagick's motion blur: 2 * radius + 1 steps of one pixel from the pixel outwards,
    weighted by half a Gaussian; ``angle`` in radians.
    """
    steps = np.arange(2 * radius + 1)
    weights = np.exp(-0.5 * (steps / sigma) ** 2)
    weights = fixed_point(weights / weights.sum())
    down = [math.ceil(step * math.sin(angle) - 0.5) for step in steps]
    right = [math.ceil(step * math.cos(angle) - 0.5) for step in steps]
    taps = zip(down, right, weights.tolist(), strict=True)
    return [(row, column, weight) for row, column, weight in taps if weight]


def blur_along_lines(images: Tensor, radius: int, sigma: float, angles: Tensor) -> Tensor:
    """uint8 ``images``, each blurred along its own angle (radians), edges repeated; 0..255."""
    height, width = images.shape[1:3]
    reach = 2 * radius
    padded = extend(images, reach, reach, "edge").float()
    total = torch.zeros(images.shape)
    for image, blurred, angle in zip(padded, total, angles.tolist(), strict=True):
        for row, column, weight in line_offsets(radius, sigma, angle):
            top, left = reach + row, reach + column
            blurred.add_(image[top : top + height, left : left + width], alpha=weight)
    return total / ONE
