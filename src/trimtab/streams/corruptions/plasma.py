"""Plasma fractals (the diamond-square algorithm on a torus), a batch at a time."""

import torch
from torch import Tensor

from trimtab.streams.draws import Draws

_FIRST_WIBBLE = 100.0


def plasma(draws: Draws, height: int, width: int, decay: float) -> Tensor:
    """Clouds in [0, 1], images x height x width; a larger ``decay`` makes them smoother."""
    side = 1 << (max(height, width, 2) - 1).bit_length()
    noise = draws.uniform(side * side - 1, low=-1.0, high=1.0)
    field = torch.zeros(len(draws), side, side)
    step, wibble, used = side, _FIRST_WIBBLE, 0
    while step >= 2:
        cells = side // step
        needed = 3 * cells * cells
        drawn = noise[:, used : used + needed].reshape(-1, 3, cells, cells) * wibble**2
        _halve(field, step, drawn)
        step, wibble, used = step // 2, wibble / decay, used + needed
    field -= field.amin(dim=(1, 2), keepdim=True)
    field /= field.amax(dim=(1, 2), keepdim=True)
    return field[:, :height, :width]


def _halve(field: Tensor, step: int, noise: Tensor) -> None:
    """Set the points halfway between those that are ``step`` apart."""
    half = step // 2
    corner = field[:, ::step, ::step].clone()
    right, below = corner.roll(-1, dims=2), corner.roll(-1, dims=1)
    middle = (corner + right + below + below.roll(-1, dims=2)).mul_(0.25).add_(noise[:, 0])
    top = (corner + right + middle + middle.roll(1, dims=1)).mul_(0.25).add_(noise[:, 1])
    left = (corner + below + middle + middle.roll(1, dims=2)).mul_(0.25).add_(noise[:, 2])
    field[:, half::step, half::step] = middle
    field[:, ::step, half::step] = top
    field[:, half::step, ::step] = left
