"""Input normalisation: from images as a network takes them to pixels in [0, 1], and back.

Augmentations brighten, clamp and shift hues, so they have to see pixels. While a stream steps, its
normalisation is in force here, and ``augmented`` goes through it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
NAMED: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "imagenet": IMAGENET,
    "cifar10": ((0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)),
    "cifar100": ((0.5071, 0.4865, 0.4409), (0.2673, 0.2564, 0.2762)),
    "mnist": ((0.1307,), (0.3081,)),
    "clip": ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)),
    "half": ((0.5,), (0.5,)),
}
"""Mean and standard deviation of each channel by name; one number serves every channel."""

FROM_MODEL = "model"
"""Given as a name: what the model's own configuration says."""


@dataclass(frozen=True)
class Normalization:
    """Inputs are ``(pixels - mean) / std``, channel by channel, with pixels in [0, 1]."""

    mean: tuple[float, ...]
    std: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.mean or not self.std or not all(value > 0 for value in self.std):
            raise ValueError(
                "normalization must be a mean and a positive standard deviation for each channel, "
                f"got {self.mean} and {self.std}"
            )

    def __str__(self) -> str:
        return f"({self.mean}, {self.std})"

    def to_pixels(self, inputs: Tensor) -> Tensor:
        """Pixels in [0, 1], at least float32."""
        mean, std = self._shaped(inputs)
        return inputs * std + mean

    def from_pixels(self, pixels: Tensor) -> Tensor:
        """What the network takes."""
        mean, std = self._shaped(pixels)
        return (pixels - mean) / std

    def _shaped(self, images: Tensor) -> tuple[Tensor, Tensor]:
        channels = max(len(self.mean), len(self.std))
        if images.dim() < 3 or channels not in (1, images.shape[1]):
            raise ValueError(
                f"normalization has {channels} channels, so inputs must be images of shape (batch, "
                f"{channels}, height, width), got {tuple(images.shape)}"
            )
        kind = torch.promote_types(images.dtype, torch.float32)
        size = (1, -1) + (1,) * (images.dim() - 2)
        made = (torch.tensor(v, dtype=kind, device=images.device) for v in (self.mean, self.std))
        mean, std = (value.view(size) for value in made)
        return mean, std


_in_force: ContextVar[Normalization | None] = ContextVar("normalization", default=None)


@contextmanager
def in_force(normalization: Normalization | None) -> Iterator[None]:
    """Let augmentations go through this normalisation, in this thread and block."""
    token = _in_force.set(normalization)
    try:
        yield
    finally:
        _in_force.reset(token)


def present() -> Normalization | None:
    """The normalisation that is in force."""
    return _in_force.get()


def normalization_of(given: Any, model: object = None) -> Normalization | None:
    """What a user means: a pair, a name, ``"model"``, or an object that has mean and std.

    Objects may be a processor of Hugging Face (``image_mean``), a preset or ``Normalize`` of
    torchvision (``mean``), or a configuration of timm.
    """
    if given is None or isinstance(given, Normalization):
        return given
    if isinstance(given, str) and given == FROM_MODEL:
        return _configured(model)
    if isinstance(given, str):
        if given not in NAMED:
            known = ", ".join(map(repr, (*NAMED, FROM_MODEL)))
            raise ValueError(f"normalization must be (mean, std) or one of {known}, got {given!r}")
        return _pair(*NAMED[given])
    found = _stated_by(given)
    if found is not None:
        return found
    if not isinstance(given, Sequence) or len(given) != 2:
        raise ValueError(
            "normalization must be a pair (mean, std), a name, or an object that has them, got "
            f"{given!r}"
        )
    return _pair(*given)


def _configured(model: object) -> Normalization:
    """What the model says of itself, as timm's do; torchvision's were all made for ImageNet."""
    layers = [model, getattr(model, "model", None), getattr(model, "module", None)]
    for layer in filter(None, layers):
        config = getattr(layer, "pretrained_cfg", None) or getattr(layer, "default_cfg", None)
        found = _stated_by(config)
        if found is not None:
            return found
        if type(layer).__module__.startswith("torchvision.models"):
            return _pair(*IMAGENET)
    raise ValueError(
        f"{type(model).__name__} does not say how its inputs are normalised (timm's and "
        "torchvision's models do); pass normalization=(mean, std)"
    )


def _stated_by(source: Any) -> Normalization | None:
    for mean, std in (("image_mean", "image_std"), ("mean", "std")):
        if isinstance(source, dict) and mean in source and std in source:
            return _pair(source[mean], source[std])
        if hasattr(source, mean) and hasattr(source, std) and not isinstance(source, Tensor):
            return _pair(getattr(source, mean), getattr(source, std))
    return None


def _pair(mean: Any, std: Any) -> Normalization:
    try:
        return Normalization(_numbers(mean), _numbers(std))
    except TypeError as error:
        raise ValueError(
            f"normalization must be two numbers, or two for each channel, got {mean!r}, {std!r}"
        ) from error


def _numbers(values: Any) -> tuple[float, ...]:
    flat = torch.as_tensor(values, dtype=torch.float64).flatten()
    return tuple(round(value, 9) for value in flat.tolist())
