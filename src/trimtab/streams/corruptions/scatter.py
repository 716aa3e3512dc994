"""Pixels taken from near ones: the sequential scattering of glass blur, many pixels at a time."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from trimtab.streams.draws import Draws

Index = npt.NDArray[np.int64]


def scatter_pixels(images: Tensor, draws: Draws, shift: int, passes: int) -> Tensor:
    """Every pixel from bottom right to top left replaced by one up to ``shift`` away.

    Offsets are uniform over -shift .. shift - 1 on both axes; a margin of ``shift`` pixels has no
    turn of its own. The paper speaks of shuffling; the program behind the published data assigns
    a pair of views of one array to each other, and so copies one pixel over the other. This
    follows the data. All copies happen on an index, which then picks the pixels at once.
    """
    count, height, width = images.shape[:3]
    if min(height, width) <= 2 * shift:
        return images.clone()
    turns, ends = wavefronts(height, width, shift)
    place = np.arange(count * height * width)
    for _ in range(passes):
        offsets = draws.integers(-shift, shift, 2, len(turns))
        partners = turns + offsets[:, 0] * width + offsets[:, 1]
        _copy_in_order(place, turns, partners, ends, height * width)
    pixels = images.reshape(-1, images.shape[3])
    return pixels[torch.from_numpy(place)].reshape(images.shape)


@lru_cache(maxsize=16)
def wavefronts(height: int, width: int, shift: int) -> tuple[Index, tuple[int, ...]]:
    """Pixel numbers sorted into groups whose copies cannot meet, and the end of each group.

    Two copies meet only if their pixels are less than ``2 * shift`` apart on both axes. A row may
    therefore run ``2 * shift`` columns behind the row below it without a change in the result.
    """
    rows = np.arange(height - shift, shift, -1)
    columns = np.arange(width - shift, shift, -1)
    turn = 2 * shift * np.arange(len(rows))[:, None] + np.arange(len(columns))[None, :]
    pixels = (rows[:, None] * width + columns[None, :]).reshape(-1)
    order = np.argsort(turn, axis=None, kind="stable")
    ends = np.cumsum(np.bincount(turn.reshape(-1)))
    return pixels[order], tuple(int(end) for end in ends)


def _copy_in_order(
    place: Index, turns: Index, partners: Index, ends: tuple[int, ...], pixels: int
) -> None:
    """Overwrite entries of ``place`` (all images in one row), group after group."""
    start_of_image = np.arange(len(partners))[None, :] * pixels
    # One row per copy keeps the copies of a group, of all images, side by side in memory.
    first = turns[:, None] + start_of_image
    second = np.ascontiguousarray(partners.T) + start_of_image
    start = 0
    for end in ends:
        place[first[start:end].reshape(-1)] = place.take(second[start:end].reshape(-1))
        start = end
