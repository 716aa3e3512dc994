"""ImageNet validation, ImageNet-C, ImageNet-R and ImageNet-Sketch as published."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from trimtab.core.ranges import SEVERITIES
from trimtab.imagenet_classes import IMAGENET_R
from trimtab.streams.corruptions import BENCHMARK
from trimtab.streams.data import LabelledImages
from trimtab.streams.domains import Stored, separate
from trimtab.streams.draws import generator
from trimtab.streams.folders import (
    Crop,
    class_folders,
    files_in,
    from_class_folders,
    labelled_files,
)

_IMAGENET_C = "https://zenodo.org/records/2235448"
_IMAGENET_R = "https://github.com/hendrycks/imagenet-r"
_SKETCH = "https://github.com/HaohanWang/ImageNet-Sketch"
_VALIDATION = "https://www.image-net.org"


def load_validation(root: str | Path, size: int = 224, resize: int | None = 256) -> LabelledImages:
    """ImageNet's validation images: ``root/<wnid>/*.JPEG``, clean."""
    folder = Path(root)
    classes = class_folders(folder, _VALIDATION)
    return from_class_folders(folder, classes, Crop(size, resize), "imagenet")


def load_imagenet_r(root: str | Path, size: int = 224, resize: int | None = 256) -> Stored:
    """ImageNet-R: ``root/<wnid>/*``, 200 of the 1,000 classes; one domain."""
    folder = Path(root)
    classes = class_folders(folder, _IMAGENET_R)
    if len(classes) != len(IMAGENET_R):
        raise ValueError(
            f"expected 200 class folders in {folder} (published at {_IMAGENET_R}), "
            f"got {len(classes)}"
        )
    crop = Crop(size, resize)
    images = from_class_folders(folder, classes, crop, "imagenet_r", IMAGENET_R)
    return separate({"imagenet_r": images})


def load_imagenet_sketch(root: str | Path, size: int = 224, resize: int | None = 256) -> Stored:
    """ImageNet-Sketch: ``root/<wnid>/*.JPEG``, all classes; one domain."""
    folder = Path(root)
    classes = class_folders(folder, _SKETCH)
    images = from_class_folders(folder, classes, Crop(size, resize), "imagenet_sketch")
    return separate({"imagenet_sketch": images})


def load_imagenet_c(
    root: str | Path,
    names: tuple[str, ...] = BENCHMARK,
    images: int | None = None,
    subset_seed: int = 0,
    list_file: str | Path | None = None,
    clean: LabelledImages | None = None,
) -> Stored:
    """ImageNet-C: ``root/<corruption>/<severity>/<wnid>/*.JPEG``, 224 x 224 pixels.

    All images; or ``images`` of them, drawn by ``subset_seed``; or those that ``list_file`` names,
    one ``<wnid>/<file>`` a line. The same images in every domain.
    """
    if images is not None and list_file is not None:
        raise ValueError("give either images (a seeded subset) or list_file, not both")
    folder = Path(root)
    first = folder / names[0] / str(SEVERITIES[-1])
    classes = tuple(class_folders(first, _IMAGENET_C))
    if list_file is None:
        chosen = _all_files(first, classes, images, subset_seed)
    else:
        chosen = _listed_files(Path(list_file), classes)
    read: Callable[[str, int], LabelledImages] = partial(_read_c, folder, classes, chosen)
    for domain in names:
        read(domain, SEVERITIES[-1])
    return Stored(names, read, clean)


def _all_files(
    folder: Path, classes: tuple[str, ...], images: int | None, seed: int
) -> tuple[str, ...]:
    files = [f"{name}/{path.name}" for name in classes for path in files_in(folder / name)]
    if images is None:
        return tuple(files)
    if not 1 <= images <= len(files):
        raise ValueError(
            f"images must lie in 1..{len(files)} (the files in {folder}), got {images}"
        )
    drawn = generator(seed, "subset").permutation(len(files))[:images]
    return tuple(files[number] for number in sorted(drawn))


def _listed_files(path: Path, classes: tuple[str, ...]) -> tuple[str, ...]:
    known = set(classes)
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    files = tuple(line for line in lines if line)
    for file in files:
        parts = file.split("/")
        if len(parts) != 2 or parts[0] not in known or parts[1] in ("", ".", ".."):
            raise ValueError(f"expected <wnid>/<file> with a known wnid in {path}, got {file!r}")
    if not files:
        raise ValueError(f"expected a <wnid>/<file> a line in {path}, got none")
    return files


def _read_c(
    root: Path, classes: tuple[str, ...], files: tuple[str, ...], domain: str, severity: int
) -> LabelledImages:
    folder = root / domain / str(severity)
    paths = [folder / file for file in files]
    _check_all_there(folder, classes, paths)
    number = {name: label for label, name in enumerate(classes)}
    labels = [number[file.split("/")[0]] for file in files]
    crop = Crop(224, resize=None)
    return labelled_files(paths, labels, crop, f"imagenet_c/{domain}/{severity}", classes)


def _check_all_there(folder: Path, classes: tuple[str, ...], paths: list[Path]) -> None:
    there = {path for name in classes for path in files_in(folder / name)}
    missing = [path for path in paths if path not in there]
    if missing:
        raise FileNotFoundError(
            f"expected <corruption>/<severity>/<wnid>/*.JPEG (published at {_IMAGENET_C}); "
            f"{len(missing)} of {len(paths)} files are missing, the first is {missing[0]}"
        )
