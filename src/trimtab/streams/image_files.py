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
            return in_rgb(image, image.format)
    except FileNotFoundError:
        raise
    except (OSError, SyntaxError, ValueError) as error:
        raise OSError(f"cannot decode the image {path}: {error}") from error


def in_rgb(image: Any, file_format: str | None) -> Any:
    """A ``PIL.Image`` in RGB, grey of 16 bits scaled: Pillow makes white of all above 255."""
    if image.mode.startswith("I;16") or (image.mode == "I" and file_format == "PNG"):
        grey = (np.asarray(image).astype(np.uint32) + 128) // 257
        return require_pillow().fromarray(grey.astype(np.uint8)).convert("RGB")
    if image.mode in ("I", "F"):
        raise ValueError(
            f"its pixels are {'whole' if image.mode == 'I' else 'floating-point'} numbers of 32 "
            "bits, of which nobody knows the range; save it with 8 or 16 bits"
        )
    return image.convert("RGB")


def require_pillow() -> "ModuleType":
    """``PIL.Image``, or an error that says how to install it."""
    try:
        from PIL import Image
    except ImportError:
        raise ImportError(
            "reading and writing image files needs Pillow: pip install 'trimtab[images]'"
        ) from None
    return Image
