"""Pixels that change places with near ones: the sequential swaps of glass blur, many at a time."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from trimtab.streams.draws import Draws

Index = npt.NDArray[np.int64]


def scatter_pixels(images: Tensor, draws: Draws, shift: int, passes: int) -> Tensor:
    """Every pixel from bottom right to top left swapped with one up to ``shift`` away.

    Offsets are uniform over -shift .. shift - 1 on both axes; a margin of ``shift`` pixels has no
    turn of its own. All swaps happen on an index, which then picks the pixels at once.
    """
    count, height, width = images.shape[:3]
    if min(height, width) <= 2 * shift:
        return images.clone()
    turns, ends = wavefronts(height, width, shift)
    place = np.arange(count * height * width)
    for _ in range(passes):
        offsets = draws.integers(-shift, shift, 2, len(turns))
        partners = turns + offsets[:, 0] * width + offsets[:, 1]
        _swap_in_order(place, turns, partners, ends, height * width)
    pixels = images.reshape(-1, images.shape[3])
    return pixels[torch.from_numpy(place)].reshape(images.shape)


@lru_cache(maxsize=16)
def wavefronts(height: int, width: int, shift: int) -> tuple[Index, tuple[int, ...]]:
    """Pixel numbers sorted into groups whose swaps cannot meet, and the end of each group.

    Two swaps meet only if their pixels are less than ``2 * shift`` apart on both axes. A row may
    therefore run ``2 * shift`` columns behind the row below it without a change in the result.
    """
    rows = np.arange(height - shift, shift, -1)
    columns = np.arange(width - shift, shift, -1)
    turn = 2 * shift * np.arange(len(rows))[:, None] + np.arange(len(columns))[None, :]
    pixels = (rows[:, None] * width + columns[None, :]).reshape(-1)
    order = np.argsort(turn, axis=None, kind="stable")
    ends = np.cumsum(np.bincount(turn.reshape(-1)))
    return pixels[order], tuple(int(end) for end in ends)


def _swap_in_order(
    place: Index, turns: Index, partners: Index, ends: tuple[int, ...], pixels: int
) -> None:
    """Swap entries of ``place`` (all images in one row), group after group."""
    start_of_image = np.arange(len(partners))[None, :] * pixels
    # One row per swap keeps the swaps of a group, of all images, side by side in memory.
    first = turns[:, None] + start_of_image
    second = np.ascontiguousarray(partners.T) + start_of_image
    start = 0
    for end in ends:
        here, there = first[start:end].reshape(-1), second[start:end].reshape(-1)
        mine, other = place.take(here), place.take(there)
        place[here] = other
        place[there] = mine
        start = end
