"""JPEG compression without the file: everything lossy that baseline JPEG does, in whole numbers.

ITU-T T.81 with its example quantisation tables, scaled by quality as the Independent JPEG Group
does; colour at half resolution, enlarged by a triangle filter. The transform's sums are whole
numbers that float32 holds exactly, in two parts where they are large, so that the bytes do not
depend on the batch.
"""

import math
from functools import lru_cache

import torch
from torch import Tensor

from trimtab.streams.corruptions.pixels import source_index, whole_to_bytes
from trimtab.streams.draws import Draws

_BLOCK = 8
_SCALE = 1 << 13  # the fixed-point one of the cosines

Table = tuple[tuple[int, ...], ...]

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

_YCC = (
    (0.299, 0.587, 0.114),
    (-0.168735892, -0.331264108, 0.5),
    (0.5, -0.418687589, -0.081312411),
)
"""What red, green and blue add to brightness and to both colour differences."""


def jpeg_compression(images: Tensor, draws: Draws, quality: float) -> Tensor:
    """What is left of the images after JPEG at ``quality`` (1 to 100)."""
    height, width = images.shape[1:3]
    luma, colour = _to_ycc(_fill_last_blocks(images))
    luma = _through_blocks(luma, _LUMA, quality)
    colour = _enlarge(_through_blocks(_halve(colour), _CHROMA, quality))
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


def _to_ycc(images: Tensor) -> tuple[Tensor, Tensor]:
    """Brightness, and both colour differences one after the other, 0..255, rounded."""
    channels = images.permute(3, 0, 1, 2).contiguous().float()
    planes, spare = torch.empty_like(channels), torch.empty_like(channels[0])
    for plane, factors in zip(planes, _YCC, strict=True):
        torch.mul(channels[0], factors[0], out=plane)
        for channel, factor in zip(channels[1:], factors[1:], strict=True):
            plane.add_(torch.mul(channel, factor, out=spare))
    colour = planes[1:].add_(128).round_().clamp_(max=255)
    return planes[0].round_(), colour.flatten(0, 1)


def _to_rgb(luma: Tensor, blueness: Tensor, redness: Tensor) -> Tensor:
    """Pixels, from colour differences around 0."""
    green = (blueness * -0.344136286).add_(redness * -0.714136286).round_().add_(luma)
    red = redness.mul_(1.402).round_().add_(luma)
    blue = blueness.mul_(1.772).round_().add_(luma)
    planes = [whole_to_bytes(plane.clamp_(0, 255)) for plane in (red, green, blue)]
    return torch.stack(planes, dim=3)


def _halve(planes: Tensor) -> Tensor:
    """Means over 2 x 2 pixels; halves go down and up in turn, so that no brightness is gained."""
    pairs = planes[:, ::2] + planes[:, 1::2]
    total = pairs[:, :, ::2] + pairs[:, :, 1::2]
    return total.add_(_halves(total.shape[2])).mul_(0.25).floor_()


@lru_cache(maxsize=16)
def _halves(width: int) -> Tensor:
    return torch.tensor([1.0, 2.0]).repeat(width // 2)


def _enlarge(planes: Tensor) -> Tensor:
    """Twice as many rows and columns, each 3/4 of the nearest and 1/4 of the next nearest.

    The edge's next nearest is itself. Comes back around 0, 128 less.
    """
    count, height, width = planes.shape
    tall = planes.new_empty(count, height, 2, width)
    upper, lower = _towards_neighbours(planes, 1)
    tall[:, :, 0], tall[:, :, 1] = upper, lower
    left, right = _towards_neighbours(tall.view(count, 2 * height, width), 2)
    for part, bias in ((left, 8), (right, 7)):
        part.add_(bias - 16 * 128).mul_(1 / 16).floor_()
    return torch.view_as_real(torch.complex(left, right)).view(count, 2 * height, 2 * width)


def _towards_neighbours(values: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Three times each value plus the one before it, and plus the one after it."""
    size = values.shape[axis]
    before = values * 3
    after = before.clone()
    before.narrow(axis, 1, size - 1).add_(values.narrow(axis, 0, size - 1))
    before.narrow(axis, 0, 1).add_(values.narrow(axis, 0, 1))
    after.narrow(axis, 0, size - 1).add_(values.narrow(axis, 1, size - 1))
    after.narrow(axis, size - 1, 1).add_(values.narrow(axis, size - 1, 1))
    return before, after


def _through_blocks(planes: Tensor, table: Table, quality: float) -> Tensor:
    """``planes`` after the transform of their 8 x 8 blocks, quantisation, and the way back.

    Along rows a matrix takes 16 neighbours at a time, two blocks; along columns all rows of one
    place in their block are one long row. The first sums are small enough to be held in one part.
    """
    width = planes.shape[2]
    along = (planes.view(-1, 2 * _BLOCK) @ _first_matrix()).add_(0.5).floor_()
    spectrum = _along_columns(_parts(False, 15), _by_place(along.view(-1, _BLOCK, width)), 15)
    spectrum[0, ::_BLOCK] -= 128 * _BLOCK * _BLOCK  # as if the plane held values around 0
    levels, steps = _quantisation(table, quality, width)
    tiled = spectrum.view(_BLOCK, -1, width)
    tiled.mul_(levels).add_(0.5).floor_().mul_(steps)
    kept = _along_columns(_parts(True, 11), spectrum, 11)
    kept = _by_place(kept.view(_BLOCK, -1, width)).view(-1, 2 * _BLOCK)
    high, low = _last_matrices()
    pixels = kept @ high
    pixels.add_((kept @ low).floor_(), alpha=_weight(18)).add_(128.5).floor_().clamp_(0, 255)
    return pixels.view(planes.shape)


def _by_place(rows: Tensor) -> Tensor:
    """Blocks of rows with rows of the same place side by side, or the other way round (8 x ...)."""
    return rows.transpose(0, 1).reshape(rows.shape[1], -1)


def _along_columns(parts: Tensor, rows: Tensor, bits: int) -> Tensor:
    """The matrix of two ``parts`` @ ``rows`` divided by two to the ``bits``, halves rounded up."""
    high, low = (parts @ rows).split(_BLOCK)
    return torch.add(high, low.floor_(), alpha=_weight(bits), out=rows).add_(0.5).floor_()


@lru_cache(maxsize=1)
def _first_matrix() -> Tensor:
    """The transform along rows of two blocks."""
    return _two_blocks(_cosines().T / (_SCALE // 4)).float()


@lru_cache(maxsize=1)
def _last_matrices() -> tuple[Tensor, Tensor]:
    """The way back along rows of two blocks, in two parts."""
    high, low = _parts(False, 18).double().chunk(2)
    return _two_blocks(high).float(), _two_blocks(low).float()


@lru_cache(maxsize=8)
def _parts(transposed: bool, bits: int) -> Tensor:
    """The cosines in two parts of 7 bits, so that sums of products fit into float32 (16 x 8).

    Of sums h and l of the parts' products, (128 h + l) / 2^bits rounded is
    floor(h / 2^(bits - 7) + floor(l / 128) / 2^(bits - 7) + 1/2); both are divided here.
    """
    matrix = _cosines().T if transposed else _cosines()
    low = (matrix + 64).remainder(128) - 64
    return torch.cat([(matrix - low) / 128 * _weight(bits), low / 128]).float()


def _weight(bits: int) -> float:
    return 2.0 ** (7 - bits)


def _two_blocks(matrix: Tensor) -> Tensor:
    blocks: Tensor = torch.block_diag(matrix, matrix)
    return blocks


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


@lru_cache(maxsize=16)
def _quantisation(table: Table, quality: float, width: int) -> tuple[Tensor, Tensor]:
    """Factors that make a row of spectra whole levels once rounded, and what a level is worth.

    The spectrum is 8 times the standard's, halves go away from 0: what is drawn away from 0 by
    2^-17 of itself passes no other half, since it is a whole number.
    """
    percent = math.floor(5000 / quality) if quality < 50 else 200 - 2 * quality
    scaled = torch.tensor(table, dtype=torch.float64).mul_(percent).add_(50).div_(100).floor_()
    steps = scaled.clamp_(1, 255).repeat(1, width // _BLOCK)[:, None]
    levels = (steps * _BLOCK).reciprocal() * (1 + 2**-17)
    return levels.float(), steps.float()
