"""Digital: brightness, saturation, contrast, elastic transform and pixelation."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from trimtab.streams.corruptions.convolve import smooth
from trimtab.streams.corruptions.pixels import to_bytes, whole_to_bytes
from trimtab.streams.draws import Draws


def brightness(images: Tensor, draws: Draws, added: float) -> Tensor:
    """The HSV value raised; at fixed hue and saturation, RGB is proportional to it."""
    channels = images.unbind(3)
    value = torch.maximum(torch.maximum(channels[0], channels[1]), channels[2]).float()
    raised = (value + 255 * added).clamp_(max=255)
    ratio = raised / value.clamp(min=1)
    black = raised.mul_(value == 0)  # added to 0 times the ratio
    return torch.stack([to_bytes(ratio * channel + black) for channel in channels], dim=3)


def saturate(images: Tensor, draws: Draws, factor: float, added: float) -> Tensor:
    """The HSV saturation scaled and raised; a grey pixel has the hue of red."""
    value = images.amax(dim=3, keepdim=True).float()
    chroma = value - images.amin(dim=3, keepdim=True)
    saturation = chroma / value.clamp(min=1)
    target = (saturation * factor + added).clamp_(0, 1)
    below = torch.where(
        chroma == 0, torch.tensor([0.0, 1.0, 1.0]), (value - images) / chroma.clamp(min=1)
    )
    return to_bytes(value - below * (value * target))


def contrast(images: Tensor, draws: Draws, kept: float) -> Tensor:
    """Every channel drawn towards its mean."""
    pixels = images.shape[1] * images.shape[2]
    # The sum of whole numbers is exact, so the mean does not depend on the order of summation.
    columns = images.sum(dim=1, keepdim=True, dtype=torch.int32)
    mean = columns.sum(dim=2, keepdim=True, dtype=torch.int64).double() / pixels
    mean = mean.float().expand(columns.shape).contiguous()  # long inner loops are fast
    return to_bytes((images - mean).mul_(kept).add_(mean))


def pixelate(images: Tensor, draws: Draws, share: float) -> Tensor:
    """Fewer pixels (each the mean of a box), then as many as before (each the nearest).

    Values of a row stay side by side as they came, three to a pixel, all the way.
    """
    count, height, width = images.shape[:3]
    rows, columns = (max(1, int(side * share)) for side in (height, width))
    values = images.reshape(count * height, width * 3).float()
    narrow = _box_means(values, _boxes(width, columns, 3))
    small = _box_means(narrow.view(count, height, columns * 3), _boxes(height, rows))
    wide = small.view(count * rows, columns * 3).index_select(1, _nearest(width, columns, 3))
    lines = whole_to_bytes(wide).view(count, rows, width * 3)
    tall = lines.index_select(1, _nearest(height, rows))
    return tall.view(images.shape)


def _box_means(values: Tensor, boxes: Boxes) -> Tensor:
    """Means along axis 1 over boxes, halves rounded up. Sums of bytes are exact in any order."""
    shape = (-1,) + (1,) * (values.dim() - 2)
    total = values.index_select(1, boxes.members[0])
    for member, inside in zip(boxes.members[1:], boxes.inside[1:], strict=True):
        total.addcmul_(values.index_select(1, member), inside.view(shape))
    return total.div_(boxes.sizes.view(shape)).add_(0.5).floor_()


def elastic_transform(
    images: Tensor, draws: Draws, alpha: float, sigma: float, shift: float
) -> Tensor:
    """A random affine map, then displacements that vary smoothly; all in pixels."""
    height, width = images.shape[1:3]
    planes = images.permute(0, 3, 1, 2).to(torch.float32, memory_format=torch.contiguous_format)
    moved = functional.grid_sample(
        planes,
        _affine_grid(draws, height, width, shift),
        padding_mode="reflection",
        align_corners=True,
    )
    if alpha:
        noise = draws.uniform(height, width, 2, low=-1.0, high=1.0)
        field = smooth(noise, sigma, border="symmetric", truncate=3.0).mul_(alpha)
        columns, rows = torch.arange(width).float(), torch.arange(height).float()
        x = (field[..., 0] + columns).mul_(2).add_(1).div_(width).sub_(1)
        y = (field[..., 1] + rows[:, None]).mul_(2).add_(1).div_(height).sub_(1)
        grid = torch.stack([x, y], dim=3)
        moved = functional.grid_sample(moved, grid, padding_mode="reflection", align_corners=False)
    return torch.stack(to_bytes(moved).unbind(1), dim=3)


def _affine_grid(draws: Draws, height: int, width: int, shift: float) -> Tensor:
    """Where each pixel comes from when three points near the centre move at random."""
    reach = min(height, width) // 3
    centre = torch.tensor([width // 2, height // 2])
    corners = torch.tensor([[1, 1], [1, -1], [-1, -1]])
    points = (centre + reach * corners).double()
    moved = points + draws.uniform(3, 2, low=-shift, high=shift)
    known = torch.cat([moved, torch.ones(len(draws), 3, 1, dtype=torch.float64)], dim=2)
    mapping = torch.linalg.solve(known, points.expand(len(draws), 3, 2)).float()
    columns, rows = torch.arange(width).float(), torch.arange(height).float()
    coefficient = mapping.reshape(-1, 3, 2, 1, 1).unbind(1)
    place: Tensor = (coefficient[0] * columns).add_(coefficient[2]) + coefficient[1] * rows[:, None]
    scale = torch.tensor([2 / max(width - 1, 1), 2 / max(height - 1, 1)])
    return place.permute(0, 2, 3, 1).mul(scale).sub_(1)


class Boxes(NamedTuple):
    """Runs of neighbouring pixels, as places in a row: first members, then second ones, ...

    ``inside`` is 0 where a box has fewer members, and 1 elsewhere.
    """

    members: list[Tensor]
    inside: list[Tensor]
    sizes: Tensor


@lru_cache(maxsize=64)
def _boxes(size: int, boxes: int, channels: int = 1) -> Boxes:
    """Which of ``size`` pixels make up each box, for every channel of it."""
    scale = size / boxes
    pixel, centre = np.arange(size), (np.arange(boxes)[:, None] + 0.5) * scale
    # A pixel belongs to the box if its own centre does: the right edge counts, the left not.
    place = (pixel - centre + 0.5) * (1 / scale)
    inside = (place > -0.5) & (place <= 0.5) & (pixel >= np.floor(centre - scale / 2 + 0.5))
    first, sizes = inside.argmax(1), inside.sum(1)
    turns = range(sizes.max())
    return Boxes(
        [_values(np.minimum(first + turn, size - 1), channels) for turn in turns],
        [_repeated(turn < sizes, channels) for turn in turns],
        _repeated(sizes, channels),
    )


def _repeated(values: npt.NDArray[Any], channels: int) -> Tensor:
    return torch.from_numpy(values.astype(np.float32)).repeat_interleave(channels)


def _values(pixels: npt.NDArray[Any], channels: int) -> Tensor:
    """The places of the pixels' values in a row that holds ``channels`` for each pixel."""
    first = torch.from_numpy(pixels.astype(np.int64)) * channels
    return (first[:, None] + torch.arange(channels)).flatten()


@lru_cache(maxsize=64)
def _nearest(size: int, boxes: int, channels: int = 1) -> Tensor:
    """The place of the value that each of ``size`` pixels shows, for every channel of it."""
    return _values(((np.arange(size) + 0.5) * (boxes / size)).astype(np.int64), channels)
