"""CIFAR-10-C and CIFAR-100-C (Hendrycks & Dietterich, ICLR 2019) as published."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from trimtab.core.ranges import SEVERITIES
from trimtab.streams.array_files import read_array
from trimtab.streams.corruptions import BENCHMARK
from trimtab.streams.data import LabelledImages
from trimtab.streams.domains import Stored

_LAYOUT = (
    "uint8 images of shape (5 * n, 32, 32, 3), n of severity 1, then n of severity 2, and so on"
)


def load_cifar10_c(
    root: str | Path, names: tuple[str, ...] = BENCHMARK, clean: LabelledImages | None = None
) -> Stored:
    """CIFAR-10-C: ``root`` holds ``<corruption>.npy`` and ``labels.npy``."""
    return _load("cifar10_c", "https://zenodo.org/records/2535967", Path(root), names, clean)


def load_cifar100_c(
    root: str | Path, names: tuple[str, ...] = BENCHMARK, clean: LabelledImages | None = None
) -> Stored:
    """CIFAR-100-C: ``root`` holds ``<corruption>.npy`` and ``labels.npy``."""
    return _load("cifar100_c", "https://zenodo.org/records/3555552", Path(root), names, clean)


def _load(
    name: str, published: str, root: Path, names: tuple[str, ...], clean: LabelledImages | None
) -> Stored:
    read: Callable[[str, int], LabelledImages] = partial(_read, name, published, root)
    for domain in names:
        read(domain, SEVERITIES[-1])
    return Stored(names, read, clean)


def _read(name: str, published: str, root: Path, domain: str, severity: int) -> LabelledImages:
    path = root / f"{domain}.npy"
    images = read_array(path, _LAYOUT, published)
    labels = read_array(root / "labels.npy", "one class per row of the images", published)
    levels = len(SEVERITIES)
    if images.dtype != np.uint8 or images.ndim != 4 or images.shape[3] != 3 or len(images) % levels:
        raise ValueError(f"expected {_LAYOUT} in {path}, got {images.dtype} of {images.shape}")
    count = len(images) // levels
    if len(labels) < count:
        raise ValueError(
            f"expected at least {count} labels in {root / 'labels.npy'}, got {len(labels)}"
        )
    rows = slice((severity - 1) * count, severity * count)
    return LabelledImages(images[rows], np.array(labels[:count]), f"{name}/{domain}/{severity}")
