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
    blue, red = (_enlarge(_through_blocks(_halve(c), colour_table)) for c in (blue, red))
    return _to_rgb(luma, blue, red)[:, :height, :width]


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
    luma = red * 0.299 + green * 0.587 + blue * 0.114
    blueness = red * -0.168735892 + green * -0.331264108 + blue * 0.5 + 128
    redness = red * 0.5 + green * -0.418687589 + blue * -0.081312411 + 128
    return luma.round_(), blueness.round_().clamp_(max=255), redness.round_().clamp_(max=255)


def _to_rgb(luma: Tensor, blueness: Tensor, redness: Tensor) -> Tensor:
    blueness, redness = blueness.sub_(128), redness.sub_(128)
    red = luma + redness.mul(1.402).round_()
    green = luma + (blueness * -0.344136286 + redness * -0.714136286).round_()
    blue = luma + blueness.mul(1.772).round_()
    result = torch.empty(*luma.shape, 3, dtype=torch.uint8)
    for channel, plane in enumerate((red, green, blue)):
        result[..., channel] = plane.clamp_(0, 255)
    return result


def _halve(plane: Tensor) -> Tensor:
    """Means over 2 x 2 pixels; halves go down and up in turn, so that no brightness is gained."""
    total = plane[:, ::2, ::2] + plane[:, ::2, 1::2] + plane[:, 1::2, ::2] + plane[:, 1::2, 1::2]
    bias = torch.tensor([1.0, 2.0], dtype=plane.dtype).repeat(total.shape[2] // 2)
    return total.add_(bias).mul_(0.25).floor_()


def _enlarge(plane: Tensor) -> Tensor:
    """Twice as many rows and columns, each 3/4 of the nearest and 1/4 of the next nearest."""
    above, below = _neighbours(plane, axis=1)
    tall = torch.stack([plane * 3 + above, plane * 3 + below], dim=2).flatten(1, 2)
    left, right = _neighbours(tall, axis=2)
    wide = torch.stack([tall * 3 + left + 8, tall * 3 + right + 7], dim=3).flatten(2, 3)
    return wide.mul_(1 / 16).floor_()


def _neighbours(plane: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    size = plane.shape[axis]
    index = torch.arange(size)
    before = plane.index_select(axis, (index - 1).clamp_(min=0))
    return before, plane.index_select(axis, (index + 1).clamp_(max=size - 1))


def _through_blocks(plane: Tensor, table: Tensor) -> Tensor:
    """``plane`` after the transform of its 8 x 8 blocks, quantisation, and the way back."""
    count, height, width = plane.shape
    cosines = _cosines()
    blocks = (plane.double() - 128).reshape(
        count, height // _BLOCK, _BLOCK, width // _BLOCK, _BLOCK
    )
    blocks = blocks.transpose(2, 3)
    spectrum = _rounded(blocks @ cosines.T, _SCALE // 4)
    spectrum = _rounded(cosines @ spectrum, _SCALE * 4)
    kept = _quantised(spectrum, table)
    pixels = _rounded(cosines.T @ kept, _SCALE // 4)
    pixels = _rounded(pixels @ cosines, _SCALE * 4 * _BLOCK)
    pixels = pixels.add_(128).clamp_(0, 255).float()
    return pixels.transpose(2, 3).reshape(count, height, width)


def _rounded(values: Tensor, unit: int) -> Tensor:
    """``values`` in whole units, halves rounded up."""
    return values.mul_(1 / unit).add_(0.5).floor_()


def _quantised(spectrum: Tensor, table: Tensor) -> Tensor:
    """Whole multiples of ``table``; the spectrum is 8 times the standard's, halves away from 0."""
    step = table * _BLOCK
    levels = spectrum.abs().add_(torch.floor(step / 2)).div_(step).floor_()
    return levels.mul_(table).mul_(spectrum.sign())


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
