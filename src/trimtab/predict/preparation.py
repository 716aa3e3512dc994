"""From a picture of any size to what a network takes."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from trimtab import models
from trimtab.core.backbone import Backbone
from trimtab.core.ranges import check_whole
from trimtab.streams.folders import Crop

Prepare = Callable[[Any], Tensor]
"""From an RGB ``PIL.Image`` to a float tensor (3, height, width) in [0, 1]."""


def network(
    model: str | nn.Module | Backbone, weights: str | Path | None, num_classes: int | None
) -> Backbone:
    """The network that words name, or the one that is given: a classifier."""
    if weights is not None and not isinstance(model, str):
        raise ValueError("weights go with a model's name; this model has its own")
    if isinstance(model, str):
        model = models.load(model, weights=weights, num_classes=num_classes)
    backbone = model if isinstance(model, Backbone) else Backbone(model, num_classes)
    if backbone.task.is_dense:
        raise ValueError(
            "expected a model with one class for each image, got one for segmentation; use "
            "trimtab.adapt in a loop over your images"
        )
    return backbone


def preparation(model: str | nn.Module | Backbone, size: int | None, resize: int | None) -> Prepare:
    """What the table, or timm, says of the model: short side to ``resize`` px, the centre cut out.

    Without a size, pictures stay as they are, and all must have one size.
    """
    check_whole("size", size, "pixel")
    check_whole("resize", resize, "pixel")
    stated = models.describe(model).preprocessing if isinstance(model, str) else None
    side = size or (stated and stated.input_size)
    if not side:
        return as_it_is
    first = resize or (stated and stated.resize if size is None else None) or side
    crop = Crop(side, max(first, side))
    if stated is not None and stated.interpolation.upper() in INTERPOLATIONS:
        crop = replace(crop, interpolation=stated.interpolation)
    return lambda image: to_tensor(crop.fit(image))


INTERPOLATIONS = ("BILINEAR", "BICUBIC", "NEAREST", "LANCZOS", "BOX", "HAMMING")


def as_it_is(image: Any) -> Tensor:
    """The picture in its own size."""
    return to_tensor(np.asarray(image, dtype=np.uint8))


def to_tensor(pixels: Any) -> Tensor:
    """uint8 (height, width, 3) as float32 (3, height, width) in [0, 1]."""
    return torch.from_numpy(np.array(pixels)).permute(2, 0, 1).contiguous().float().div_(255)


def class_names(source: str | Path | Sequence[str] | None, model: Any) -> tuple[str, ...]:
    """Names from a file (a line each, or a JSON list), a list, or the dataset of a shipped net."""
    if source is None:
        return _names_of_dataset(model) if isinstance(model, str) else ()
    if not isinstance(source, str | Path):
        return tuple(source)
    path = Path(source)
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".json":
        return tuple(text.splitlines())
    try:
        names = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{path} must hold a list of class names")
    return tuple(names)


def _names_of_dataset(model: str) -> tuple[str, ...]:
    from trimtab.streams import cifar10, embedded

    known = {"fashion_mnist": embedded.CLASSES, "cifar10": cifar10.CLASSES}
    entry = models.describe(model)
    return known.get(entry.dataset, ()) if entry.shipped else ()
