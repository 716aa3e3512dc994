"""Digital: brightness, saturation, contrast, elastic transform and pixelation."""

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from trimtab.streams.corruptions.convolve import smooth
from trimtab.streams.corruptions.pixels import to_bytes
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
    """Fewer pixels (each the mean of a box), then as many as before (each the nearest)."""
    height, width = images.shape[1:3]
    rows, columns = (max(1, int(side * share)) for side in (height, width))
    planes = images.permute(0, 3, 1, 2).to(torch.float32, memory_format=torch.contiguous_format)
    across, down = _members(width, columns), _members(height, rows)
    narrow = _rounded(planes @ across.T, across.sum(1))
    small = _rounded(down @ narrow, down.sum(1, keepdim=True))
    wide = (small @ _shown(width, columns)).to(torch.uint8)
    tall = wide.index_select(2, _nearest(height, rows))
    return torch.stack(tall.unbind(1), dim=3)


def _rounded(total: Tensor, count: Tensor) -> Tensor:
    """Means, halves rounded up. Sums of bytes are exact, so a matrix product's order is free."""
    return total.div_(count).add_(0.5).floor_()


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


@lru_cache(maxsize=64)
def _members(size: int, boxes: int) -> Tensor:
    """Which of ``size`` pixels make up each box (boxes x size, 1 or 0)."""
    scale = size / boxes
    pixel, centre = np.arange(size), (np.arange(boxes)[:, None] + 0.5) * scale
    # A pixel belongs to the box if its own centre does: the right edge counts, the left not.
    place = (pixel - centre + 0.5) * (1 / scale)
    inside = (place > -0.5) & (place <= 0.5) & (pixel >= np.floor(centre - scale / 2 + 0.5))
    return torch.from_numpy(inside.astype(np.float32))


@lru_cache(maxsize=64)
def _shown(size: int, boxes: int) -> Tensor:
    """Which box each of ``size`` pixels shows (boxes x size, 1 or 0)."""
    return functional.one_hot(_nearest(size, boxes), boxes).T.float().contiguous()


def _nearest(size: int, boxes: int) -> Tensor:
    """The number of the box that each of ``size`` pixels shows."""
    return torch.from_numpy(((np.arange(size) + 0.5) * (boxes / size)).astype(np.int64))
