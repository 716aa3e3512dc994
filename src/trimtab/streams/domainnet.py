"""ImageNet-D109: the part of DomainNet whose classes ImageNet knows, from a DomainNet tree."""

from pathlib import Path

from trimtab.imagenet_classes import IMAGENET_D109
from trimtab.streams.data import LabelledImages
from trimtab.streams.domains import Stored, separate
from trimtab.streams.folders import Crop, files_in, labelled_files

DOMAINS = ("clipart", "infograph", "painting", "real", "sketch")
MERGED = {"bathtub": ("hot_tub",), "bed": ("couch",), "fan": ("ceiling_fan",)}
"""DomainNet folders that count as a class of another name, next to the class's own folder."""

_PUBLISHED = "https://ai.bu.edu/M3SDA/"


def load_imagenet_d109(
    root: str | Path,
    domains: tuple[str, ...] = DOMAINS,
    size: int = 224,
    resize: int | None = 256,
) -> Stored:
    """ImageNet-D109: ``root/<domain>/<class>/*`` as in DomainNet; other classes are left out."""
    folder = Path(root)
    crop = Crop(size, resize)
    return separate({domain: _read(folder / domain, crop) for domain in domains})


def _read(folder: Path, crop: Crop) -> LabelledImages:
    paths: list[Path] = []
    labels: list[int] = []
    for label, name in enumerate(IMAGENET_D109):
        found = [path for part in (name, *MERGED.get(name, ())) for path in files_in(folder / part)]
        if not found:
            raise FileNotFoundError(
                f"expected DomainNet's images (published at {_PUBLISHED}) as <domain>/<class>/*, "
                f"found none in {folder / name}"
            )
        paths += found
        labels += [label] * len(found)
    names, indices = tuple(IMAGENET_D109), tuple(IMAGENET_D109.values())
    return labelled_files(paths, labels, crop, f"imagenet_d109/{folder.name}", names, indices)
