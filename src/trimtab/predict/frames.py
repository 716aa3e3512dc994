"""Where images come from: files, folders, patterns, animations, videos, paths on standard input."""

import glob
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from trimtab.streams.image_files import SUFFIXES, in_rgb, require_pillow

ANIMATED = (".gif", ".png", ".tif", ".tiff", ".webp")
"""Endings of files in which Pillow may find several frames."""

IMAGES = (*SUFFIXES, ".gif", ".tif", ".tiff")
VIDEOS = (".avi", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".webm")
STANDARD_INPUT = "-"


@dataclass(frozen=True)
class Frame:
    """One image: its name, as the table of predictions has it, and a function that decodes it.

    ``decode`` returns an RGB ``PIL.Image`` or raises OSError.
    """

    name: str
    decode: Callable[[], Any]


def frames(images: Iterable[str | PathLike[str]]) -> Iterator[Frame]:
    """The images that these words name, one after the other, opened when they are needed.

    A folder stands for all images in it and below, sorted by name; a pattern for what it matches;
    ``-`` for paths on standard input, one a line, as they come. An animation or video gives a
    frame each, called ``clip.mp4#0``, ``clip.mp4#1``, ...
    """
    for words in images:
        if words == STANDARD_INPUT:
            lines = (line.rstrip("\r\n") for line in sys.stdin)
            yield from (frame for line in lines if line for frame in frames_of(Path(line)))
        else:
            yield from (frame for path in paths(str(words)) for frame in frames_of(path))


def paths(words: str) -> list[Path]:
    """The files that a path, a folder or a pattern names; FileNotFoundError without any."""
    path = Path(words)
    if path.is_dir():
        found = sorted(file for file in path.rglob("*") if file.suffix.lower() in IMAGES + VIDEOS)
        if not found:
            raise FileNotFoundError(f"expected images in {words}, found none")
        return found
    if path.exists():
        return [path]
    found = sorted(Path(name) for name in glob.glob(words, recursive=True))  # noqa: PTH207
    if not found:
        raise FileNotFoundError(f"there is no file or folder {words}, and it matches none")
    return [file for match in found for file in (paths(str(match)) if match.is_dir() else [match])]


def count(images: Iterable[str | PathLike[str]]) -> int | None:
    """How many files there are; None where standard input is among them. Raises as ``frames``."""
    words = [str(image) for image in images]
    files = sum(len(paths(word)) for word in words if word != STANDARD_INPUT)
    return None if STANDARD_INPUT in words else files


def frames_of(path: Path) -> Iterator[Frame]:
    """The frames of one file; a file that cannot be opened is one frame that cannot be decoded."""
    if path.suffix.lower() in VIDEOS:
        yield from _video(path)
        return
    number = _frame_count(path) if path.suffix.lower() in ANIMATED else 1
    if number == 1:
        yield Frame(str(path), partial(decoded, path))
        return
    for place in range(number):
        yield Frame(f"{path}#{place}", partial(decoded, path, place))


def _frame_count(path: Path) -> int:
    try:
        with require_pillow().open(path) as image:
            return int(getattr(image, "n_frames", 1))
    except (OSError, SyntaxError, ValueError):
        return 1  # decoding it will say what is wrong


def decoded(path: Path, frame: int = 0) -> Any:
    """One frame of a file as an RGB ``PIL.Image``, turned the way its camera was held."""
    pillow = require_pillow()
    from PIL import ImageOps

    try:
        with pillow.open(path) as image:
            if frame:
                image.seek(frame)
            return in_rgb(ImageOps.exif_transpose(image), image.format)
    except FileNotFoundError:
        raise
    except (
        OSError,
        SyntaxError,
        ValueError,
        EOFError,
        pillow.DecompressionBombError,
    ) as error:
        raise OSError(f"cannot decode the image {path}: {error}") from error


def _video(path: Path) -> Iterator[Frame]:
    """Frames of a video one after the other; where it breaks off, one that says so."""
    number = 0
    try:
        for pixels in _video_pixels(path):
            yield Frame(f"{path}#{number}", partial(_picture, pixels))
            number += 1
    except ImportError:
        raise
    except Exception as error:  # decoders raise many kinds; each means the same here
        message = f"cannot decode the video {path} from frame {number} on: {error}"
        yield Frame(f"{path}#{number}", partial(_fail, message))


def _fail(message: str) -> Any:
    raise OSError(message)


def _video_pixels(path: Path) -> Iterator[Any]:
    try:
        import imageio.v3
    except ImportError:
        raise ImportError(
            f"reading the video {path} needs imageio: pip install 'trimtab[video]'"
        ) from None
    return iter(imageio.v3.imiter(path, plugin="pyav"))


def _picture(pixels: Any) -> Any:
    return require_pillow().fromarray(pixels).convert("RGB")
