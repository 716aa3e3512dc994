"""Seeded, augmented training batches: the same for the same seed and epoch."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from trimtab.models.train.recipe import Recipe


@dataclass(frozen=True)
class TrainingSet:
    """Images (count, height, width, 3) and labels (count,) or (count, height, width), all uint8.

    ``teacher`` holds a teacher's logits (2, count, classes) for the images as they are and
    mirrored, or is absent.
    """

    images: Tensor
    labels: Tensor
    teacher: Tensor | None = None


@dataclass(frozen=True)
class TrainingBatch:
    """Inputs (batch, 3, size, size) in [0, 1], labels (batch, ...), the teacher's logits."""

    inputs: Tensor
    labels: Tensor
    teacher: Tensor | None


def batches(data: TrainingSet, recipe: Recipe, epoch: int) -> Iterator[TrainingBatch]:
    """One epoch's full batches, in an order and with shifts and flips of its own."""
    generator = torch.Generator().manual_seed(recipe.seed * 100_003 + epoch)
    order = torch.randperm(len(data.images), generator=generator)
    size = recipe.small_size if epoch < recipe.small_epochs else data.images.shape[1]
    for chosen in order.split(recipe.batch_size)[: batches_per_epoch(data, recipe)]:
        flips = torch.rand(len(chosen), generator=generator) < 0.5
        images = shift(data.images[chosen], recipe.max_shift, generator)
        images = torch.where(flips[:, None, None, None], images.flip(2), images)
        inputs = images.permute(0, 3, 1, 2).float() / 255
        if size != inputs.shape[2]:
            inputs = functional.interpolate(inputs, size, mode="bilinear", antialias=True)
        teacher = None if data.teacher is None else data.teacher[flips.long(), chosen].float()
        inputs = inputs.contiguous(memory_format=torch.channels_last)
        labels = data.labels[chosen].long()
        if labels.dim() > 1:  # of pixels, which are mirrored with their images
            labels = torch.where(flips[:, None, None], labels.flip(2), labels)
        yield TrainingBatch(inputs, labels, teacher)


def batches_per_epoch(data: TrainingSet, recipe: Recipe) -> int:
    """Only full batches: a compiled model sees one shape."""
    return len(data.images) // recipe.batch_size


def shift(images: Tensor, reach: int, generator: torch.Generator) -> Tensor:
    """Each image moved by up to ``reach`` px on both axes, its border mirrored in."""
    count, height, width, _ = images.shape
    rows = _mirrored(height, torch.randint(-reach, reach + 1, (count, 1), generator=generator))
    columns = _mirrored(width, torch.randint(-reach, reach + 1, (count, 1), generator=generator))
    return images[torch.arange(count)[:, None, None], rows[:, :, None], columns[:, None, :]]


def _mirrored(size: int, offsets: Tensor) -> Tensor:
    """Source positions (count, size) after moving by ``offsets``, reflected into the image."""
    positions = (torch.arange(size) + offsets).abs()
    return torch.minimum(positions, 2 * (size - 1) - positions)
