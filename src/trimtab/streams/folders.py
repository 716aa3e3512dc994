"""Labelled images in a tree with one folder per class, decoded when they are asked for."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from trimtab.streams.data import Indices, LabelledImages, Pixels
from trimtab.streams.image_files import SUFFIXES, open_image, require_pillow


@dataclass(frozen=True)
class Crop:
    """How a picture becomes ``size`` x ``size`` pixels: short side to ``resize``, then the centre.

    ``resize`` None leaves a picture that has the right size as it is. ``interpolation`` is a word
    of Pillow's: bilinear, bicubic, nearest, lanczos, box or hamming.
    """

    size: int = 224
    resize: int | None = 256
    interpolation: str = "bilinear"

    def __call__(self, path: Path) -> Pixels:
        """The file's pixels, size x size x 3."""
        return self.fit(open_image(path), path)

    def fit(self, image: Any, path: str | Path = "the image") -> Pixels:
        """The pixels of an RGB ``PIL.Image``, size x size x 3."""
        if self.resize is not None:
            scale = self.resize / min(image.size)
            width, height = (max(self.resize, int(side * scale)) for side in image.size)
            kind = require_pillow().Resampling[self.interpolation.upper()]
            image = image.resize((width, height), resample=kind)
            left, top = round((width - self.size) / 2), round((height - self.size) / 2)
            image = image.crop((left, top, left + self.size, top + self.size))
        if image.size != (self.size, self.size):
            raise ValueError(
                f"expected {self.size} x {self.size} pixels in {path}, got {image.size}"
            )
        return np.asarray(image, dtype=np.uint8)


@dataclass(frozen=True, eq=False)
class ImageFiles:
    """Image files as a source of pixels; a few threads decode, one core stays free."""

    paths: Sequence[Path]
    crop: Crop = field(default_factory=Crop)
    workers: int = field(default_factory=lambda: max(1, min(8, (os.cpu_count() or 1) - 1)))

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, indices: Any, /) -> Pixels:
        chosen = [self.paths[number] for number in np.atleast_1d(indices)]
        if self.workers == 1 or len(chosen) < 2:
            return np.stack([self.crop(path) for path in chosen])
        with ThreadPoolExecutor(self.workers) as pool:
            return np.stack(list(pool.map(self.crop, chosen)))


def load(
    root: str | Path, size: int = 224, resize: int | None = 256, name: str | None = None
) -> LabelledImages:
    """Images under ``root/<class>/``; classes are numbered in the order of their names."""
    folder = Path(root)
    classes = class_folders(folder)
    return from_class_folders(folder, classes, Crop(size, resize), name or folder.name)


def class_folders(root: Path, published: str | None = None) -> list[str]:
    """Names of the folders in ``root``, sorted."""
    where = f" (published at {published})" if published else ""
    expected = f"expected a folder per class in {root}{where}"
    if not root.is_dir():
        raise FileNotFoundError(f"{expected}, found no such folder")
    names = sorted(entry.name for entry in root.iterdir() if entry.is_dir())
    if not names:
        raise FileNotFoundError(f"{expected}, found none")
    return names


def from_class_folders(
    root: Path,
    classes: Sequence[str],
    crop: Crop,
    name: str,
    class_indices: tuple[int, ...] | None = None,
) -> LabelledImages:
    """The images of the given class folders, labelled by their place in ``classes``."""
    paths: list[Path] = []
    labels: list[int] = []
    for label, folder in enumerate(classes):
        found = files_in(root / folder)
        if not found:
            raise FileNotFoundError(f"expected images in {root / folder}, found none")
        paths += found
        labels += [label] * len(found)
    return labelled_files(paths, labels, crop, name, tuple(classes), class_indices)


def labelled_files(
    paths: Sequence[Path],
    labels: Sequence[int] | Indices,
    crop: Crop,
    name: str,
    classes: tuple[str, ...],
    class_indices: tuple[int, ...] | None = None,
) -> LabelledImages:
    """Files and their labels as a dataset."""
    source = ImageFiles(tuple(paths), crop)
    return LabelledImages(source, np.asarray(labels, np.int64), name, classes, class_indices)


def files_in(folder: Path) -> list[Path]:
    """Image files directly in ``folder``, sorted; none if there is no such folder."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES)
