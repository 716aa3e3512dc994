"""Image files: finding and decoding them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from types import ModuleType

SUFFIXES = (".jpeg", ".jpg", ".png", ".bmp", ".webp", ".ppm")


def image_paths(folder: Path) -> list[Path]:
    """Image files anywhere under ``folder``, sorted; links that lead back up are not followed."""
    if not folder.is_dir():
        raise FileNotFoundError(f"expected a folder of images at {folder}, found none")
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES)


def read_image(path: Path) -> npt.NDArray[np.uint8]:
    """The file's pixels, height x width x 3."""
    with open_image(path) as image:
        return np.asarray(image, dtype=np.uint8)


def open_image(path: Path) -> Any:
    """The decoded file as an RGB ``PIL.Image``."""
    pillow = require_pillow()
    try:
        with pillow.open(path) as image:
            return image.convert("RGB")
    except FileNotFoundError:
        raise
    except (OSError, SyntaxError, ValueError) as error:
        raise OSError(f"cannot decode the image {path}: {error}") from error


def require_pillow() -> "ModuleType":
    """``PIL.Image``, or an error that says how to install it."""
    try:
        from PIL import Image
    except ImportError:
        raise ImportError(
            "reading and writing image files needs Pillow: pip install 'trimtab[images]'"
        ) from None
    return Image
