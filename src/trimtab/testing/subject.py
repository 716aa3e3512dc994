"""What is checked: a method on a network, with images to show it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from trimtab.api import adapt
from trimtab.core.adapter import Adapter
from trimtab.core.backbone import Backbone
from trimtab.core.method import Method

NORMS = ("bn", "gn", "ln")
"""Kinds of norm layers: batch, group and layer norm."""

CLASSES = 7


@dataclass(frozen=True)
class Subject:
    """A method on a network.

    Args:
        method: A recipe.
        model: A classifier of ``images``, in training mode as torch makes it.
        images: At least 80 images in [0, 1].
        full: Samples in a batch where their number is no matter.
        task: ``"segmentation"`` for a model that has a prediction for each pixel.
    """

    method: Method
    model: nn.Module
    images: Tensor
    full: int = 16
    task: str | None = None

    @cached_property
    def backbone(self) -> Backbone:
        """The network that all streams of the subject share."""
        return Backbone(self.model, task=self.task)

    def start(self, **options: Any) -> Adapter:
        """A fresh stream."""
        return adapt(self.backbone, self.method, **options)

    def batches(self, size: int | None = None, count: int = 3) -> Iterator[Tensor]:
        """The first ``count`` batches."""
        size = self.full if size is None else size
        return iter(self.images[: size * count].split(size))


def small_net(norm: str) -> nn.Module:
    """An untrained network of seven classes for images of 16 px a side."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return _layers(norm)


def _layers(norm: str) -> nn.Module:
    if norm == "ln":
        tokens = nn.Sequential(nn.Conv2d(3, 16, 4, stride=4), nn.Flatten(2), Swapped())
        mixing = nn.Sequential(nn.LayerNorm(16), nn.Linear(16, 16), nn.GELU(), nn.LayerNorm(16))
        return nn.Sequential(
            tokens, mixing, Swapped(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(16, CLASSES)
        )
    first = nn.BatchNorm2d(8) if norm == "bn" else nn.GroupNorm(4, 8)
    second = nn.BatchNorm2d(16) if norm == "bn" else nn.GroupNorm(4, 16)
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1, bias=False), first, nn.ReLU(),
        nn.Conv2d(8, 16, 3, stride=2, padding=1, bias=False), second, nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, CLASSES),
    )  # fmt: skip


class Swapped(nn.Module):
    """Swaps the last two dimensions."""

    def forward(self, inputs: Tensor) -> Tensor:
        return inputs.transpose(1, 2)


def small_images() -> Tensor:
    """96 soft patterns in [0, 1], (96, 3, 16, 16)."""
    generator = torch.Generator().manual_seed(0)
    coarse = torch.rand(96, 3, 4, 4, generator=generator)
    return nn.functional.interpolate(coarse, size=16, mode="bilinear")


def expect(holds: bool, message: str) -> None:
    """Raise an AssertionError unless something holds, also where Python leaves asserts out."""
    if not holds:
        raise AssertionError(message)


def differing(left: Any, right: Any, where: str = "state") -> str:
    """Where two states differ, bit by bit; nothing where they are the same."""
    if isinstance(left, dict) and isinstance(right, dict):
        if left.keys() != right.keys():
            return f"{where} has {sorted(map(str, left.keys() ^ right.keys()))} on one side only"
        found = (differing(left[key], right[key], f"{where}/{key}") for key in left)
        return next(filter(None, found), "")
    if isinstance(left, Tensor) and isinstance(right, Tensor):
        return "" if left.dtype == right.dtype and torch.equal(left, right) else where
    return "" if left == right else where


def expect_same(left: Any, right: Any, message: str) -> None:
    """Expect two states to be bit-equal, or name the first tensor that is not."""
    found = differing(left, right)
    expect(not found, f"{message}: {found} differs")


def expect_finite(adapter: Adapter) -> None:
    """Expect parameters and memories to be finite."""
    for name, param in adapter.params.items():
        expect(bool(param.isfinite().all()), f"the parameter {name} is not finite")
    for component, memory in adapter.memory.items():
        for name, tensor in memory.items():
            fine = not tensor.is_floating_point() or bool(tensor.isfinite().all())
            expect(fine, f"{name}, in the memory of {component}, is not finite")
