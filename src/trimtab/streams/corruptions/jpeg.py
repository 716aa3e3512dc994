"""JPEG compression without the file: everything lossy that baseline JPEG does, in whole numbers.

ITU-T T.81 with its example quantisation tables, scaled by quality as the Independent JPEG Group
does; colour at half resolution, enlarged by a triangle filter. The transform's sums are whole
numbers that float64 holds exactly, so that the bytes do not depend on the batch.
"""

import math
from functools import lru_cache

import torch
from torch import Tensor

from trimtab.streams.corruptions.pixels import source_index
from trimtab.streams.draws import Draws

_BLOCK = 8
_SCALE = 1 << 13  # the fixed-point one of the cosines

_LUMA = (
    (16, 11, 10, 16, 24, 40, 51, 61),
    (12, 12, 14, 19, 26, 58, 60, 55),
    (14, 13, 16, 24, 40, 57, 69, 56),
    (14, 17, 22, 29, 51, 87, 80, 62),
    (18, 22, 37, 56, 68, 109, 103, 77),
    (24, 35, 55, 64, 81, 104, 113, 92),
    (49, 64, 78, 87, 103, 121, 120, 101),
    (72, 92, 95, 98, 112, 100, 103, 99),
)
_CHROMA = (
    (17, 18, 24, 47, 99, 99, 99, 99),
    (18, 21, 26, 66, 99, 99, 99, 99),
    (24, 26, 56, 99, 99, 99, 99, 99),
    (47, 66, 99, 99, 99, 99, 99, 99),
    *((99,) * 8,) * 4,
)


def jpeg_compression(images: Tensor, draws: Draws, quality: float) -> Tensor:
    """What is left of the images after JPEG at ``quality`` (1 to 100)."""
    height, width = images.shape[1:3]
    luma, blue, red = _to_ycc(_fill_last_blocks(images))
    luma = _through_blocks(luma, _quantisation(_LUMA, quality))
    colour_table = _quantisation(_CHROMA, quality)
    colour = _enlarge(_through_blocks(_halve(torch.cat([blue, red])), colour_table))
    return _to_rgb(luma, *colour.chunk(2))[:, :height, :width]


def _fill_last_blocks(images: Tensor) -> Tensor:
    """Both sides made multiples of 16 by repeating the last row and column."""
    for axis in (1, 2):
        size = images.shape[axis]
        missing = -size % (2 * _BLOCK)
        if missing:
            index = source_index(size, missing, "edge")[missing:]
            images = images.index_select(axis, index)
    return images


def _to_ycc(images: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Brightness and the two colour differences, 0..255, rounded."""
    red, green, blue = (images[..., channel].float() for channel in range(3))
    luma = (red * 0.299).add_(green * 0.587).add_(blue * 0.114)
    blueness = (red * -0.168735892).add_(green * -0.331264108).add_(blue * 0.5).add_(128)
    redness = red.mul_(0.5).add_(green.mul_(-0.418687589)).add_(blue.mul_(-0.081312411)).add_(128)
    return luma.round_(), blueness.round_().clamp_(max=255), redness.round_().clamp_(max=255)


def _to_rgb(luma: Tensor, blueness: Tensor, redness: Tensor) -> Tensor:
    blueness, redness = blueness.sub_(128), redness.sub_(128)
    green = (blueness * -0.344136286).add_(redness * -0.714136286).round_().add_(luma)
    red = redness.mul_(1.402).round_().add_(luma)
    blue = blueness.mul_(1.772).round_().add_(luma)
    planes = [plane.clamp_(0, 255).to(torch.uint8) for plane in (red, green, blue)]
    return torch.stack(planes, dim=3)


def _halve(planes: Tensor) -> Tensor:
    """Means over 2 x 2 pixels; halves go down and up in turn, so that no brightness is gained."""
    pairs = planes[:, ::2] + planes[:, 1::2]
    total = pairs[:, :, ::2] + pairs[:, :, 1::2]
    bias = torch.tensor([1.0, 2.0]).repeat(total.shape[2] // 2)
    return total.add_(bias).mul_(0.25).floor_()


def _enlarge(planes: Tensor) -> Tensor:
    """Twice as many rows and columns, each 3/4 of the nearest and 1/4 of the next nearest."""
    height, width = planes.shape[1:]
    wide = (_triangles(height) @ planes) @ _triangles(width).T
    bias = torch.tensor([8 / 16, 7 / 16]).repeat(width)
    return wide.add_(bias).floor_()


@lru_cache(maxsize=8)
def _triangles(size: int) -> Tensor:
    """The matrix that doubles ``size`` pixels (2 * size x size); the edge pixel is repeated."""
    nearest = torch.arange(2 * size) // 2
    next_nearest = nearest + torch.tensor([-1, 1]).repeat(size)
    weights = torch.zeros(2 * size, size)
    weights.scatter_add_(1, nearest[:, None], torch.full((2 * size, 1), 0.75))
    next_nearest = next_nearest.clamp_(0, size - 1)
    return weights.scatter_add_(1, next_nearest[:, None], torch.full((2 * size, 1), 0.25))


def _through_blocks(planes: Tensor, table: Tensor) -> Tensor:
    """``planes`` after the transform of their 8 x 8 blocks, quantisation, and the way back.

    Blocks stay where they are in the plane: along rows a matrix takes 8 neighbours at a time,
    along columns 8 whole rows. The first sums are small enough for float32.
    """
    count, height, width = planes.shape
    cosines = _cosines()
    along = planes.reshape(-1, _BLOCK) @ (cosines.T / (_SCALE // 4)).float()
    rows_of_blocks = _half_up(along).double().reshape(-1, _BLOCK, width)
    spectrum = _half_up((cosines / (_SCALE * 4)) @ rows_of_blocks)
    spectrum[:, 0, ::_BLOCK] -= 128 * _BLOCK * _BLOCK  # as if the plane held values around 0
    kept = _quantised(spectrum, table.repeat(1, width // _BLOCK))
    kept = _half_up((cosines.T / (_SCALE // 4)) @ kept)
    pixels = kept.reshape(-1, _BLOCK) @ (cosines / (_SCALE * 4 * _BLOCK))
    return pixels.add_(128.5).floor_().clamp_(0, 255).float().reshape(count, height, width)


def _half_up(values: Tensor) -> Tensor:
    """``values`` (changed in place) rounded, halves up."""
    return values.add_(0.5).floor_()


def _quantised(spectrum: Tensor, table: Tensor) -> Tensor:
    """Whole multiples of ``table``; the spectrum is 8 times the standard's, halves away from 0."""
    half_step = table * (_BLOCK // 2)
    levels = torch.copysign(half_step, spectrum).add_(spectrum).div_(2 * half_step).trunc_()
    return levels.mul_(table)


@lru_cache(maxsize=1)
def _cosines() -> Tensor:
    """The transform's matrix times the square root of 8, in fixed point."""
    rows = [
        [
            round(_SCALE * (math.sqrt(2) if k else 1) * math.cos((2 * n + 1) * k * math.pi / 16))
            for n in range(_BLOCK)
        ]
        for k in range(_BLOCK)
    ]
    return torch.tensor(rows, dtype=torch.float64)


def _quantisation(table: tuple[tuple[int, ...], ...], quality: float) -> Tensor:
    percent = math.floor(5000 / quality) if quality < 50 else 200 - 2 * quality
    scaled = torch.tensor(table, dtype=torch.float64).mul_(percent).add_(50).div_(100).floor_()
    return scaled.clamp_(1, 255)
