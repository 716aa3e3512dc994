"""Labelled images, and the datasets that can be loaded by name."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from trimtab.registry import Registry

Indices = npt.NDArray[np.int64]
Pixels = npt.NDArray[np.uint8]

IGNORED = 255
"""The class of pixels that nobody has labelled, as in Cityscapes."""


class PixelSource(Protocol):
    """Images by number: an array in memory or on disk, or files that are decoded when asked for."""

    def __len__(self) -> int: ...

    def __getitem__(self, indices: Any, /) -> Any:
        """uint8 pixels, images x height x width x 3."""


@dataclass(frozen=True, eq=False)
class LabelledImages:
    """Images, their classes (int64, one per image) and a name.

    ``class_indices`` says which of a model's outputs the classes 0, 1, ... are; None: the same.
    ``masks`` are the classes of pixels (images x height x width), for segmentation; then streams
    are ordered by the classes of images and scored by those of pixels. Pixels of ``IGNORED`` are
    not scored.
    """

    images: PixelSource
    labels: Indices
    name: str = "images"
    class_names: tuple[str, ...] = ()
    class_indices: tuple[int, ...] | None = None
    masks: PixelSource | None = None

    def __post_init__(self) -> None:
        labels = np.asarray(self.labels)
        if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer):
            raise ValueError(
                f"expected one whole number per image as labels, got {labels.dtype} {labels.shape}"
            )
        if len(labels) != len(self.images):
            raise ValueError(f"got {len(self.images)} images but {len(labels)} labels")
        if self.masks is not None and len(self.masks) != len(self.images):
            raise ValueError(f"got {len(self.images)} images but {len(self.masks)} masks")
        if isinstance(self.images, np.ndarray):
            _check_pixels(self.images)
        if len(labels) and labels.min() < 0:
            raise ValueError(f"labels must not be negative, got {labels.min()}")
        object.__setattr__(self, "labels", labels.astype(np.int64))

    def __len__(self) -> int:
        return len(self.labels)

    def pixels(self, indices: Iterable[int] | Indices) -> Pixels:
        """uint8 pixels of the chosen images, images x height x width x 3."""
        return np.asarray(self.images[np.asarray(indices, dtype=np.int64)], dtype=np.uint8)

    def truth(self, indices: Iterable[int] | Indices) -> Indices:
        """What predictions are scored by: classes of the chosen images, or of their pixels."""
        chosen = np.asarray(indices, dtype=np.int64)
        if self.masks is None:
            return self.labels[chosen]
        return np.asarray(self.masks[chosen]).astype(np.int64)

    def subset(self, indices: Iterable[int] | Indices) -> "LabelledImages":
        """The chosen images, copied into memory."""
        chosen = np.asarray(indices, dtype=np.int64)
        return LabelledImages(
            self.pixels(chosen),
            self.labels[chosen],
            self.name,
            self.class_names,
            self.class_indices,
            None if self.masks is None else np.asarray(self.masks[chosen]),
        )


DATASETS: Registry[Callable[..., Any]] = Registry(
    "dataset",
    {
        "acdc": "trimtab.streams.driving:load_acdc",
        "arrays": "trimtab.streams.array_files:load",
        "camvid": "trimtab.streams.driving:load_camvid",
        "cifar10": "trimtab.streams.cifar10:load",
        "cifar10_c": "trimtab.streams.cifar:load_cifar10_c",
        "cifar100_c": "trimtab.streams.cifar:load_cifar100_c",
        "cityscapes": "trimtab.streams.driving:load_cityscapes",
        "fashion_mnist": "trimtab.streams.embedded:load",
        "fashion_scenes": "trimtab.streams.scenes:load",
        "folder": "trimtab.streams.folders:load",
        "imagenet": "trimtab.streams.imagenet:load_validation",
        "imagenet_c": "trimtab.streams.imagenet:load_imagenet_c",
        "imagenet_d109": "trimtab.streams.domainnet:load_imagenet_d109",
        "imagenet_r": "trimtab.streams.imagenet:load_imagenet_r",
        "imagenet_sketch": "trimtab.streams.imagenet:load_imagenet_sketch",
    },
)
"""Functions by dataset name, imported when asked for."""


def load(name: str, **options: Any) -> Any:
    """The named dataset: ``LabelledImages``, or ``Domains`` where it brings its own."""
    return DATASETS.make(name, options)


def _check_pixels(images: npt.NDArray[Any]) -> None:
    if images.dtype != np.uint8 or images.ndim != 4 or images.shape[3] != 3:
        raise ValueError(
            "expected uint8 images of shape (images, height, width, 3), "
            f"got {images.dtype} of shape {images.shape}"
        )
