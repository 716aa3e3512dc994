"""Random draws that belong to an image: the same whatever the batch, the worker or the order."""

import hashlib
from collections.abc import Iterable
from functools import cached_property, lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

WORDS = 1 << 16
"""Number of values of one draw: randomness comes in 16-bit words, enough for 8-bit images."""


class Draws:
    """One counter-based generator (Philox) per image, keyed by seed, purpose and image number.

    Successive calls go on in every image's own sequence. NumPy promises that the raw words of
    a bit generator never change; no other part of NumPy's random module is used here.
    """

    def __init__(self, seed: int, purpose: str, images: Iterable[int]) -> None:
        self._seed, self._purpose, self._images = seed, purpose, [int(image) for image in images]

    def __len__(self) -> int:
        return len(self._images)

    @cached_property
    def _generators(self) -> list[np.random.Philox]:  # made by those that draw; some never do
        return [_philox(self._seed, self._purpose, image) for image in self._images]

    def words(self, *shape: int) -> npt.NDArray[np.uint16]:
        """Independent 16-bit words, one block of ``shape`` for each image."""
        count = int(np.prod(shape, dtype=np.int64))
        raw = np.empty((len(self), -(-count // 4)), dtype="<u8")
        for row, generator in zip(raw, self._generators, strict=True):
            row[:] = generator.random_raw(row.size)
        return raw.view("<u2")[:, :count].reshape(len(self), *shape)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> Tensor:
        """Values in the open interval (``low``, ``high``), images x ``shape``, float32."""
        words = torch.from_numpy(self.words(*shape).astype(np.float32))
        return words.add_(0.5).mul_((high - low) / WORDS).add_(low)

    def normal(self, *shape: int, mean: float = 0.0, sd: float = 1.0) -> Tensor:
        """Normal values, images x ``shape``, float32; none lies beyond 4.4 ``sd``."""
        table = (standard_normal_quantiles() * sd + mean).astype(np.float32)
        return torch.from_numpy(np.take(table, self.words(*shape), mode="wrap"))

    def integers(self, low: int, high: int, *shape: int) -> npt.NDArray[np.int64]:
        """Integers from ``low`` to ``high`` - 1, images x ``shape``."""
        scaled = self.words(*shape).astype(np.int64) * (high - low)
        return (scaled >> 16) + low


@lru_cache(maxsize=1)
def standard_normal_quantiles() -> npt.NDArray[np.float64]:
    """The normal quantile in the middle of each of the 65,536 equally likely intervals."""
    quantile = NormalDist().inv_cdf
    upper = [quantile((word + 0.5) / WORDS) for word in range(WORDS // 2, WORDS)]
    return np.concatenate([-np.array(upper[::-1]), np.array(upper)])


def _philox(seed: int, purpose: str, image: int) -> np.random.Philox:
    return np.random.Philox(key=_key(seed, purpose) ^ image)


@lru_cache(maxsize=256)
def _key(seed: int, purpose: str) -> int:
    """A 128-bit key whose low 64 bits are left to the image number."""
    digest = hashlib.sha256(f"{seed}/{purpose}".encode()).digest()
    return int.from_bytes(digest[:8], "little") << 64


def generator(seed: int, purpose: str) -> np.random.Generator:
    """A NumPy generator for draws that belong to a whole stream."""
    return np.random.Generator(np.random.Philox(key=_key(seed, purpose)))
