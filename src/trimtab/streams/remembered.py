"""Corrupted images that are kept, for runs that show the same ones in one process."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from trimtab.streams.data import Indices
from trimtab.streams.domains import Corrupted

MOST_BYTES = 32 * 1024**2
"""Most bytes of images that are kept; what comes later is made again each time."""


@dataclass(frozen=True, eq=False)
class Remembered(Corrupted):
    """Makes each corrupted image once, as long as there is room; the images are the same.

    Scenarios of one seed show the same images of each domain, and an image does not depend on the
    batch in which it is made. Images of one seed are kept at a time.
    """

    most_bytes: int = MOST_BYTES
    _kept: dict[tuple[int, str, int, int], Tensor] = field(default_factory=dict)

    @property
    def num_kept(self) -> int:
        """Images that need not be made again."""
        return len(self._kept)

    def pixels(self, domain: str, severity: int, indices: Indices, seed: int) -> Tensor:
        keys = [(seed, domain, severity, index) for index in indices.tolist()]
        if self._kept and next(iter(self._kept))[0] != seed:
            self._kept.clear()
        missing = [place for place, key in enumerate(keys) if key not in self._kept]
        if not missing:
            return torch.stack([self._kept[key] for key in keys])
        if len(missing) < len(keys):
            made = super().pixels(domain, severity, indices[missing], seed)
            fresh = dict(zip(missing, made, strict=True))
            rows = [fresh[n] if n in fresh else self._kept[key] for n, key in enumerate(keys)]
            pixels = torch.stack(rows)
        else:
            pixels = super().pixels(domain, severity, indices, seed)
        for place in missing:
            self._keep(keys[place], pixels[place])
        return pixels

    def _keep(self, key: tuple[int, str, int, int], image: Tensor) -> None:
        if (len(self._kept) + 1) * image.nbytes <= self.most_bytes:
            self._kept[key] = image.clone()
