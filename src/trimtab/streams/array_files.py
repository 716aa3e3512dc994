"""Labelled images in NumPy files: pixels and labels side by side."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.streams.data import LabelledImages


def load(images: str | Path, labels: str | Path, name: str | None = None) -> LabelledImages:
    """Images (uint8, images x height x width x 3) and labels from two ``.npy`` files.

    The pixels stay on disk and are read as they are needed.
    """
    pixels = read_array(Path(images), "uint8 images of shape (images, height, width, 3)")
    classes = read_array(Path(labels), "one whole number per image")
    return LabelledImages(pixels, np.array(classes), name or Path(images).stem)


def read_array(path: Path, layout: str, published: str | None = None) -> npt.NDArray[Any]:
    """The array in a ``.npy`` file, mapped rather than read; never unpickled."""
    where = f" (published at {published})" if published else ""
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)  # type: ignore[no-any-return]
    except FileNotFoundError:
        raise FileNotFoundError(f"expected {layout} at {path}{where}, found no such file") from None
    except (ValueError, OSError, EOFError) as error:
        raise OSError(f"{path} is damaged, expected {layout}{where}: {error}") from error
