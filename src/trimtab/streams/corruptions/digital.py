"""Digital: brightness, saturation, contrast, elastic transform and pixelation."""

import math

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from trimtab.streams.corruptions.convolve import smooth
from trimtab.streams.corruptions.pixels import to_bytes
from trimtab.streams.draws import Draws


def brightness(images: Tensor, draws: Draws, added: float) -> Tensor:
    """The HSV value raised; at fixed hue and saturation, RGB is proportional to it."""
    value = images.amax(dim=3, keepdim=True).float()
    raised = (value + 255 * added).clamp_(max=255)
    brighter = images * (raised / value.clamp(min=1))
    return to_bytes(torch.where(value == 0, raised, brighter))


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
    mean = images.sum(dim=(1, 2), keepdim=True, dtype=torch.int64).double() / pixels
    return to_bytes((images - mean.float()).mul_(kept).add_(mean.float()))


def pixelate(images: Tensor, draws: Draws, share: float) -> Tensor:
    """Fewer pixels (each the mean of a box), then as many as before (each the nearest)."""
    small = images
    for axis in (2, 1):
        small = _box_shrink(small, axis, max(1, int(images.shape[axis] * share)))
    for axis in (2, 1):
        size, sides = images.shape[axis], small.shape[axis]
        nearest = ((np.arange(size) + 0.5) * (sides / size)).astype(np.int64)
        small = small.index_select(axis, torch.from_numpy(nearest))
    return small


def elastic_transform(
    images: Tensor, draws: Draws, alpha: float, sigma: float, shift: float
) -> Tensor:
    """A random affine map, then displacements that vary smoothly; all in pixels."""
    height, width = images.shape[1:3]
    planes = images.permute(0, 3, 1, 2).float()
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
    return to_bytes(moved.permute(0, 2, 3, 1).contiguous())


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


def _box_shrink(images: Tensor, axis: int, size: int) -> Tensor:
    """uint8 means over ``size`` boxes of whole pixels along ``axis``, halves rounded up."""
    scale = images.shape[axis] / size
    centre = (np.arange(size) + 0.5) * scale
    first = (centre - scale / 2 + 0.5).astype(np.int64)
    shape = (1, size, 1, 1) if axis == 1 else (1, 1, size, 1)
    total, count = torch.zeros(()), torch.zeros(())
    for step in range(math.ceil(scale) + 1):
        pixel = first + step
        # A pixel belongs to the box if its own centre does: the right edge counts, the left not.
        place = (pixel - centre + 0.5) * (1 / scale)
        inside = (place > -0.5) & (place <= 0.5) & (pixel < images.shape[axis])
        weight = torch.from_numpy(inside.astype(np.float32)).reshape(shape)
        # The same for each channel, written out: long inner loops are fast.
        weight = weight.expand(-1, -1, -1, images.shape[3]).contiguous()
        picked = torch.from_numpy(np.minimum(pixel, images.shape[axis] - 1))
        total = images.index_select(axis, picked) * weight + total
        count = weight + count
    return (total / count).add_(0.5).to(torch.uint8)
