"""Images by the words of a spec: ``fashion_mnist``, or ``imagenet_c(images=5000)``.

``imagenet_c(clean='imagenet')`` are corrupted images with clean ones beside them.
"""

import os
from pathlib import Path
from typing import Any

from trimtab.core.spec import single_term
from trimtab.streams.data import DATASETS, LabelledImages

FOLDERS = {
    "acdc": "acdc",
    "camvid": "camvid",
    "cifar10_c": "CIFAR-10-C",
    "cifar100_c": "CIFAR-100-C",
    "cityscapes": "cityscapes",
    "imagenet": "imagenet/val",
    "imagenet_c": "ImageNet-C",
    "imagenet_d109": "imagenet-d",
    "imagenet_r": "imagenet-r",
    "imagenet_sketch": "ImageNet-Sketch/sketch",
}
"""Where published datasets are looked for, under ``data_folder()``."""


SOURCE_PARTS = {"cifar10": "train", "fashion_mnist": "source", "fashion_scenes": "source"}
"""Parts of datasets that can serve as source data."""


def data_folder() -> Path:
    """The folder of datasets on disk: ``$TRIMTAB_DATA``, or ``data`` here.

    It is no part of a spec: the same run has the same id wherever its files are.
    """
    return Path(os.environ.get("TRIMTAB_DATA") or "data")


def open_data(words: str) -> Any:
    """LabelledImages or Domains."""
    term = single_term(words)
    options = dict(term.arguments)
    if term.name in FOLDERS:
        options.setdefault("root", data_folder() / FOLDERS[term.name])
    if isinstance(options.get("clean"), str):
        options["clean"] = open_data(options["clean"])
    return DATASETS.make(term.name, options)


def open_source_data(words: str) -> LabelledImages:
    """Clean labelled images that no stream of the data shows."""
    name = single_term(words).name
    if name not in SOURCE_PARTS:
        known = ", ".join(SOURCE_PARTS)
        raise ValueError(f"no source images are known for {name}; there are some for {known}")
    images: LabelledImages = DATASETS.make(name, {"part": SOURCE_PARTS[name]})
    return images
