"""Images of files and folders in batches, in the order in which they come."""

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import torch
from torch import Tensor

from trimtab.predict.frames import Frame, frames
from trimtab.predict.preparation import Prepare

DECODERS = 4
"""Threads that read image files."""


@dataclass
class ImageBatches:
    """Tensors (batch, 3, height, width) in [0, 1]; what cannot be read is passed over.

    Args:
        limit: Most images that are read; None reads all.
        bad: Images that were passed over, with the reason.
    """

    images: list[str]
    prepare: Prepare
    batch_size: int = 64
    limit: int | None = None
    bad: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in ("batch_size", "limit"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")

    def __iter__(self) -> Iterator[Tensor]:
        left = itertools.islice(frames(self.images), self.limit)
        good: list[Tensor] = []
        shape: torch.Size | None = None
        with ThreadPoolExecutor(DECODERS) as pool:
            while some := list(itertools.islice(left, self.batch_size - len(good))):
                for frame, image in zip(some, pool.map(self._decoded, some), strict=True):
                    shape = shape or (image.shape if isinstance(image, Tensor) else None)
                    if isinstance(image, Tensor) and image.shape == shape:
                        good.append(image)
                    else:
                        reason = image if isinstance(image, str) else _misfit(image)
                        self.bad.append((frame.name, reason))
                if len(good) == self.batch_size:
                    yield torch.stack(good)
                    good = []
        if good:
            yield torch.stack(good)

    def _decoded(self, frame: Frame) -> Tensor | str:
        """The image, or what is wrong with it."""
        try:
            return self.prepare(frame.decode())
        except (OSError, ValueError, MemoryError) as error:
            return " ".join(str(error).split()) or type(error).__name__


def _misfit(image: Tensor) -> str:
    height, width = image.shape[1:]
    return f"it has {width} x {height} pixels, unlike the first; say --size"
