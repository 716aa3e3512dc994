"""The common corruptions (Hendrycks & Dietterich, ICLR 2019, arXiv:1903.12261), in batches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from trimtab.core.spec import choice
from trimtab.streams.corruptions import blur, digital, jpeg, noise, severity, weather
from trimtab.streams.corruptions.frost_texture import photographs
from trimtab.streams.corruptions.parallel import for_each
from trimtab.streams.draws import Draws

CORRUPTIONS: dict[str, Callable[..., Tensor]] = {
    "gaussian_noise": noise.gaussian_noise,
    "shot_noise": noise.shot_noise,
    "impulse_noise": noise.impulse_noise,
    "defocus_blur": blur.defocus_blur,
    "glass_blur": blur.glass_blur,
    "motion_blur": blur.motion_blur,
    "zoom_blur": blur.zoom_blur,
    "snow": weather.snow,
    "frost": weather.frost,
    "fog": weather.fog,
    "brightness": digital.brightness,
    "contrast": digital.contrast,
    "elastic_transform": digital.elastic_transform,
    "pixelate": digital.pixelate,
    "jpeg_compression": jpeg.jpeg_compression,
    "speckle_noise": noise.speckle_noise,
    "gaussian_blur": blur.gaussian_blur,
    "spatter": weather.spatter,
    "saturate": digital.saturate,
}
BENCHMARK = tuple(CORRUPTIONS)[:15]
"""The fifteen that results are reported on, in the published order."""
VALIDATION = tuple(CORRUPTIONS)[15:]
"""The four that settings may be tuned on."""

_VALUES_AT_A_TIME = 1 << 19  # fits a cache, and keeps two threads from waiting for each other
_MORE_AT_A_TIME = {"fog": 4}  # its many small steps cost the same for one image and for ten


@dataclass(frozen=True)
class Corruptor:
    """Corrupts images; holds what is the same for all of them.

    ``table`` is "32" or "224", by default that of the nearer image size. ``frost_folder`` holds
    photographs of frost that take the place of the procedural textures.
    """

    table: str | None = None
    frost_folder: Path | None = None

    def __post_init__(self) -> None:
        if self.table is not None:
            choice("severity table", self.table, severity.TABLES)

    def __call__(
        self,
        images: npt.NDArray[np.uint8] | Tensor,
        corruption: str,
        level: int,
        *,
        seed: int = 0,
        indices: Sequence[int] | npt.NDArray[np.int64] | None = None,
    ) -> Tensor:
        """A corrupted copy of uint8 ``images`` (images x height x width x 3).

        An image's result depends on its pixels, its number in ``indices`` (by default its place in
        the batch) and the seed, never on the other images.
        """
        batch = _checked(images)
        numbers = np.arange(len(batch)) if indices is None else np.asarray(indices)
        if len(numbers) != len(batch):
            raise ValueError(f"expected {len(batch)} indices, one per image, got {len(numbers)}")
        function = CORRUPTIONS[choice("corruption", corruption, CORRUPTIONS)]
        height, width = batch.shape[1:3]
        table = self.table or severity.table_for(height, width)
        values = severity.settings(corruption, level, table)
        extra = self._extra(corruption, height, width)
        result = torch.empty_like(batch)
        values_at_a_time = _VALUES_AT_A_TIME * _MORE_AT_A_TIME.get(corruption, 1)
        size = max(1, values_at_a_time // max(1, batch[0:1].numel()))

        def fill(part: slice) -> None:
            draws = Draws(seed, corruption, numbers[part])
            result[part] = function(batch[part], draws, *values, **extra)

        for_each(fill, [slice(start, start + size) for start in range(0, len(batch), size)])
        return result

    def _extra(self, corruption: str, height: int, width: int) -> dict[str, object]:
        if corruption != "frost" or self.frost_folder is None:
            return {}
        return {"textures": photographs(self.frost_folder, height, width)}


def corrupt(
    images: npt.NDArray[np.uint8] | Tensor,
    corruption: str,
    severity: int,
    *,
    seed: int = 0,
    indices: Sequence[int] | npt.NDArray[np.int64] | None = None,
) -> Tensor:
    """A corrupted copy of uint8 ``images``, by a ``Corruptor`` with nothing set."""
    return Corruptor()(images, corruption, severity, seed=seed, indices=indices)


def _checked(images: npt.NDArray[np.uint8] | Tensor) -> Tensor:
    if isinstance(images, np.ndarray) and not images.flags.writeable:
        images = images.copy()  # torch warns of arrays that it could not protect
    batch = torch.as_tensor(images)
    if batch.dtype != torch.uint8 or batch.ndim != 4 or batch.shape[3] != 3:
        raise ValueError(
            "expected uint8 images of shape (images, height, width, 3), "
            f"got {batch.dtype} of shape {tuple(batch.shape)}"
        )
    return batch.contiguous()
