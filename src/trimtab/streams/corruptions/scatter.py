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
    turn of its own. Descriptions speak of swaps; the distances that ``imagecorruptions-imaug``
    produces are those of copies, which this follows. All copies happen on an index, which then
    picks the pixels at once.
    """
    count, height, width = images.shape[:3]
    if min(height, width) <= 2 * shift:
        return images.clone()
    turns, ends = wavefronts(height, width, shift)
    # One row per pixel and one column per image: what a group touches lies close together.
    source = np.repeat(np.arange(height * width, dtype=np.int32)[:, None], count, axis=1)
    for _ in range(passes):
        offsets = draws.integers(-shift, shift, 2, len(turns))
        partners = turns + offsets[:, 0] * width + offsets[:, 1]
        _copy_in_order(source, turns, np.ascontiguousarray(partners.T), ends)
    start_of_image = np.arange(count)[:, None] * (height * width)
    chosen = torch.from_numpy(source.T + start_of_image).reshape(-1)
    return images.reshape(-1, images.shape[3]).index_select(0, chosen).reshape(images.shape)


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
    source: npt.NDArray[np.int32], turns: Index, partners: Index, ends: tuple[int, ...]
) -> None:
    """Overwrite entries of ``source`` (pixels x images), group after group.

    ``partners`` holds the pixel that each turn copies (turns x images).
    """
    count = source.shape[1]
    flat = source.reshape(-1)
    there = partners * count + np.arange(count)
    start = 0
    for end in ends:
        source[turns[start:end]] = flat.take(there[start:end])
        start = end
