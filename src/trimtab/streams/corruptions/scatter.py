"""Pixels taken from near ones: the sequential scattering of glass blur, all pixels at a time."""

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
    height, width = images.shape[1:3]
    if min(height, width) <= 2 * shift:
        return images.clone()
    turns = len(turn_order(height, width, shift))
    sources = [_numbers(height * width)] * len(images)
    for _ in range(passes):
        drawn = draws.words(2, turns).astype(np.int32)
        down, right = (drawn * (2 * shift) >> 16).swapaxes(0, 1)
        steps = torch.from_numpy(down * width + right - shift * (width + 1))
        for number, step in enumerate(steps):
            sources[number] = sources[number].index_select(0, _copied(step, height, width, shift))
    picked = [
        image.reshape(height * width, -1).index_select(0, source)
        for image, source in zip(images, sources, strict=True)
    ]
    return torch.stack(picked).reshape(images.shape)


@lru_cache(maxsize=16)
def turn_order(height: int, width: int, shift: int) -> Index:
    """The number of the pixel that each draw belongs to.

    Draws are dealt along slanted lines: each row runs ``2 * shift`` columns behind the row below.
    """
    rows = np.arange(height - shift, shift, -1)
    columns = np.arange(width - shift, shift, -1)
    turn = 2 * shift * np.arange(len(rows))[:, None] + np.arange(len(columns))[None, :]
    pixels = (rows[:, None] * width + columns[None, :]).reshape(-1)
    return np.asarray(pixels[np.argsort(turn, axis=None, kind="stable")])


@lru_cache(maxsize=16)
def _turns(height: int, width: int, shift: int) -> tuple[Tensor, Tensor]:
    """By pixel: the number of its draw (of any, without a turn), and whether it has a turn."""
    draw = torch.zeros(height * width, dtype=torch.int32)
    has_turn = torch.zeros(height * width, dtype=torch.bool)
    pixels = torch.from_numpy(turn_order(height, width, shift))
    draw[pixels] = torch.arange(len(pixels), dtype=torch.int32)
    has_turn[pixels] = True
    return draw, has_turn


@lru_cache(maxsize=16)
def _numbers(count: int) -> Tensor:
    return torch.arange(count, dtype=torch.int32)


def _copied(step: Tensor, height: int, width: int, shift: int) -> Tensor:
    """The pixel whose old value each pixel has after one pass (int32, height * width).

    At its turn a pixel copies the one ``step`` away. If that lies before it, it still has its old
    value. If it lies after it, it has had its turn and holds what it copied itself: a link of a
    chain. Links are followed for all pixels at once, twice as far each time.
    """
    draw, has_turn = _turns(height, width, shift)
    count = height * width
    numbers = _numbers(2 * count)
    taken = step.index_select(0, draw).mul_(has_turn)
    partner = numbers[:count] + taken
    is_link = has_turn.index_select(0, partner).logical_and_(taken > 0)
    # Numbers from ``count`` on stand for old values and lead to themselves: the ends of chains.
    leads_to = numbers.clone()
    chain = leads_to[:count].copy_(partner.add_(is_link.logical_not_(), alpha=count))
    while chain.amin() < count:
        chain.copy_(leads_to.index_select(0, chain))
    return chain - count
