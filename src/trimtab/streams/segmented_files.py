"""Image files with label images beside them (segmentation masks), decoded when asked for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from trimtab.streams.data import IGNORED, LabelledImages, Pixels
from trimtab.streams.image_files import open_image, require_pillow

Size = tuple[int, int]
"""Height and width in pixels."""


@dataclass(frozen=True, eq=False)
class Pictures:
    """Images of one size, (count, height, width, 3).

    Args:
        size: What images are resized to, bilinearly; None leaves them as they are.
    """

    paths: Sequence[Path]
    size: Size | None = None

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, indices: Any, /) -> Pixels:
        return _alike([self._read(self.paths[n]) for n in np.atleast_1d(indices)], self.paths)

    def _read(self, path: Path) -> Pixels:
        image = open_image(path)
        if self.size is not None:
            image = image.resize(self.size[::-1], resample=require_pillow().Resampling.BILINEAR)
        return np.asarray(image, dtype=np.uint8)


@dataclass(frozen=True, eq=False)
class Masks:
    """Classes of pixels, (count, height, width), read from the grey values of label images.

    Args:
        classes: The class of each grey value; those that are not here are ``IGNORED``.
        size: What masks are resized to, each pixel taking the nearest one's class.
    """

    paths: Sequence[Path]
    classes: Mapping[int, int]
    size: Size | None = None

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, indices: Any, /) -> Pixels:
        return _alike([self._read(self.paths[n]) for n in np.atleast_1d(indices)], self.paths)

    def _read(self, path: Path) -> Pixels:
        pillow = require_pillow()
        with pillow.open(path) as opened:
            if opened.mode not in ("L", "P", "1"):
                raise ValueError(
                    f"expected one number per pixel in the label image {path}, got the mode "
                    f"{opened.mode}: colours, where class numbers are needed"
                )
            image = opened.copy()
        if self.size is not None:
            image = image.resize(self.size[::-1], resample=pillow.Resampling.NEAREST)
        table = np.full(256, IGNORED, dtype=np.uint8)
        for value, number in self.classes.items():
            table[value] = number
        return np.asarray(table[np.asarray(image, dtype=np.uint8)])


def segmented(
    images: Sequence[Path],
    mask_of: Callable[[Path], Path],
    classes: Mapping[int, int],
    names: tuple[str, ...],
    name: str,
    *,
    size: Size | None = None,
    published: str,
) -> LabelledImages:
    """Images and their masks as a dataset; an error names the first file that is missing.

    All images count as of one class when streams are ordered.

    Args:
        mask_of: Where the label image of an image is.
        published: Where the dataset comes from.
    """
    masks = [mask_of(path) for path in images]
    for image, mask in zip(images, masks, strict=True):
        if not mask.is_file():
            raise FileNotFoundError(
                f"expected the label image of {image} at {mask} (published at {published}), "
                "found none"
            )
    if size is not None and (len(size) != 2 or min(size) < 1):
        raise ValueError(f"size must be (height, width) in pixels, got {size}")
    pictures, labels = Pictures(tuple(images), size), np.zeros(len(images), dtype=np.int64)
    return LabelledImages(pictures, labels, name, names, masks=Masks(tuple(masks), classes, size))


def _alike(arrays: list[Pixels], paths: Sequence[Path]) -> Pixels:
    shapes = {array.shape[:2] for array in arrays}
    if len(shapes) > 1:
        raise ValueError(
            f"images beside each other must be of one size, got {sorted(shapes)} in "
            f"{paths[0].parent} and others; pass size=(height, width)"
        )
    return np.stack(arrays)
