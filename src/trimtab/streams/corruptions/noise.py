"""Noise: Gaussian, shot, impulse and speckle."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from trimtab.streams.corruptions.pixels import to_bytes
from trimtab.streams.draws import WORDS, Draws


def gaussian_noise(images: Tensor, draws: Draws, sigma: float) -> Tensor:
    """Every value plus normal noise."""
    return to_bytes(draws.normal(*images.shape[1:], sd=255 * sigma).add_(images))


def speckle_noise(images: Tensor, draws: Draws, sigma: float) -> Tensor:
    """Every value times one plus normal noise."""
    return to_bytes(draws.normal(*images.shape[1:], mean=1.0, sd=sigma).mul_(images))


def impulse_noise(images: Tensor, draws: Draws, share: float) -> Tensor:
    """A share of all values, half each, replaced by black and by full brightness."""
    words = draws.words(*images.shape[1:])
    half = round(share / 2 * WORDS)
    result = images.numpy().copy()
    result[words < half] = 0
    result[words >= WORDS - half] = 255
    return torch.from_numpy(result)


def shot_noise(images: Tensor, draws: Draws, photons: float) -> Tensor:
    """Every value as a Poisson count of the photons that it stands for."""
    position = images.numpy().astype(np.int32)
    position <<= 16
    position |= draws.words(*images.shape[1:])
    return torch.from_numpy(np.take(_shot_table(photons), position, mode="wrap"))


@lru_cache(maxsize=5)
def _shot_table(photons: float) -> npt.NDArray[np.uint8]:
    """Result for each byte (high 8 bits of the position) and each random word (low 16 bits).

    Drawing a Poisson number costs more than everything else here, and there are only 256 means.
    """
    counts = np.arange(int(photons) + 1)
    shown = np.floor(counts / photons * 255 + 1e-6).astype(np.uint8)
    rows = [np.repeat(shown, _words_per_count(byte / 255 * photons, counts)) for byte in range(256)]
    return np.concatenate(rows)


def _words_per_count(mean: float, counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """How many of the 65,536 words stand for each count; the last count takes the whole tail."""
    if mean == 0:
        return np.where(counts == 0, WORDS, 0)
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(counts[1:]))])
    cumulative = np.cumsum(np.exp(counts * np.log(mean) - mean - log_factorial))
    cumulative[-1] = 1.0
    bounds = np.rint(np.minimum(cumulative, 1.0) * WORDS).astype(np.int64)
    return np.asarray(np.diff(bounds, prepend=0))
