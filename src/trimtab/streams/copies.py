"""Corrupted copies on disk: arrays in the layout of CIFAR-C, folders in that of ImageNet-C."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path

import numpy as np

from trimtab.core.files import written_whole
from trimtab.core.ranges import SEVERITIES, check_severity
from trimtab.core.spec import choice
from trimtab.streams.array_files import read_array
from trimtab.streams.corruptions import BENCHMARK, CORRUPTIONS, Corruptor
from trimtab.streams.data import Pixels
from trimtab.streams.image_files import image_paths, read_image, require_pillow

RECORD = "corruptions.json"
"""Name of the file beside the copies that says how they were made."""

_IMAGES_AT_A_TIME = 64
_JPEG_QUALITY = 85  # that of ImageNet-C

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Copies:
    """What to write: which corruptions at which severities, and from which seed."""

    names: tuple[str, ...] = BENCHMARK
    severities: tuple[int, ...] = SEVERITIES
    seed: int = 0
    corruptor: Corruptor = field(default_factory=Corruptor)

    def __post_init__(self) -> None:
        for name in self.names:
            choice("corruption", name, CORRUPTIONS)
        for severity in self.severities:
            check_severity(severity)

    def begin(self, target: Path, source: Path, force: bool) -> None:
        """Make ``target`` ready; copies made with other settings are an error without ``force``."""
        _refuse_to_mix(source, target)
        path = target / RECORD
        made = {"source": source.name, **json.loads(json.dumps(asdict(self), default=str))}
        if path.exists() and not force:
            before = json.loads(path.read_text(encoding="utf-8"))
            if {**before, "names": None} != {**made, "names": None}:
                raise ValueError(
                    f"{target} holds copies made with other settings ({path}); "
                    "choose another folder, or --force to write them anew"
                )
        with written_whole(path) as part:
            part.write_text(json.dumps(made, indent=1), encoding="utf-8")


def _refuse_to_mix(source: Path, target: Path) -> None:
    """Keep copies apart from what they are made of: the next start would take them for that."""
    place, home = target.resolve(), (source if source.is_dir() else source.parent).resolve()
    if place == home or (source.is_dir() and home in place.parents):
        raise ValueError(
            f"copies in {target} would lie among what they are made of, {source}; "
            "choose another folder"
        )


def copy_array(
    copies: Copies, source: Path, target: Path, *, force: bool = False, progress: Progress
) -> None:
    """``target/<corruption>.npy``: all images at the first severity, then at the next, and so on.

    ``progress`` is called with the number of images that are done since the last call.
    """
    images = read_array(source, "uint8 images of shape (images, height, width, 3)")
    copies.begin(target, source, force)
    for name in copies.names:
        path = target / f"{name}.npy"
        if path.exists() and not force:
            progress(len(images) * len(copies.severities))
            continue
        with written_whole(path) as part:
            _fill_array(copies, name, images, part, progress)


def copy_labels(copies: Copies, source: Path, target: Path, *, force: bool = False) -> None:
    """``target/labels.npy``: the labels once for each severity, as CIFAR-C has them."""
    labels = read_array(source, "one whole number per image")
    path = target / "labels.npy"
    if path.resolve() == source.resolve():
        raise ValueError(f"labels are written to {path}; choose another folder")
    if path.exists() and not force:
        return
    with written_whole(path) as part, part.open("wb") as file:
        np.save(file, np.tile(labels, len(copies.severities)), allow_pickle=False)


def _fill_array(copies: Copies, name: str, images: Pixels, path: Path, progress: Progress) -> None:
    shape = (len(copies.severities) * len(images), *images.shape[1:])
    result = np.lib.format.open_memmap(path, mode="w+", dtype=np.uint8, shape=shape)
    for place, severity in enumerate(copies.severities):
        for start in range(0, len(images), _IMAGES_AT_A_TIME):
            numbers = np.arange(start, min(start + _IMAGES_AT_A_TIME, len(images)))
            batch = np.array(images[numbers])
            corrupted = copies.corruptor(batch, name, severity, seed=copies.seed, indices=numbers)
            result[place * len(images) + numbers] = corrupted.numpy()
            progress(len(numbers))
    result.flush()


def copy_folder(
    copies: Copies, source: Path, target: Path, *, force: bool = False, progress: Progress
) -> None:
    """``target/<corruption>/<severity>/<path below source>`` for every image in ``source``.

    Sizes and file formats stay as they are; JPEG files have quality 85, as in ImageNet-C.
    """
    files = image_paths(source)
    if not files:
        raise FileNotFoundError(f"expected images in {source}, found none")
    copies.begin(target, source, force)
    kinds = [(name, severity) for name in copies.names for severity in copies.severities]
    for numbers, batch in _same_sized(files):
        for name, severity in kinds:
            folder = target / name / str(severity)
            wanted = {n: folder / files[n].relative_to(source) for n in numbers}
            todo = [n for n in numbers if force or not wanted[n].exists()]
            if todo:
                rows = [numbers.index(n) for n in todo]
                made = copies.corruptor(batch[rows], name, severity, seed=copies.seed, indices=todo)
                _save(made.numpy(), [wanted[n] for n in todo])
            progress(len(numbers))


def _same_sized(files: Sequence[Path]) -> Iterator[tuple[list[int], Pixels]]:
    """Neighbouring images of one size, some at a time: their numbers and pixels."""
    decoded = ((number, read_image(path)) for number, path in enumerate(files))
    for _, group in groupby(decoded, key=lambda item: item[1].shape):
        yield from _chunks(group)


def _chunks(group: Iterable[tuple[int, Pixels]]) -> Iterator[tuple[list[int], Pixels]]:
    numbers: list[int] = []
    pixels: list[Pixels] = []
    for number, image in group:
        numbers.append(number)
        pixels.append(image)
        if len(numbers) == _IMAGES_AT_A_TIME:
            yield numbers, np.stack(pixels)
            numbers, pixels = [], []
    if numbers:
        yield numbers, np.stack(pixels)


def _save(images: Pixels, paths: Sequence[Path]) -> None:
    pillow = require_pillow()
    for image, path in zip(images, paths, strict=True):
        kind = pillow.registered_extensions()[path.suffix.lower()]
        options = {"quality": _JPEG_QUALITY} if kind == "JPEG" else {}
        with written_whole(path) as part:
            pillow.fromarray(image).save(part, format=kind, **options)
