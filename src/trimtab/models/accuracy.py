"""The share of images, or of pixels, that a network gets right."""

import torch
from torch import Tensor, nn


@torch.no_grad()
def accuracy_of(
    model: nn.Module, images: Tensor, labels: Tensor, *, batch_size: int = 250
) -> float:
    """The share of ``images`` (count, height, width, 3), uint8, that ``model`` gets right; of
    their pixels where ``labels`` are (count, height, width)."""
    model.eval()
    right = 0
    for pixels, truth in zip(images.split(batch_size), labels.split(batch_size), strict=True):
        logits = model(pixels.permute(0, 3, 1, 2).float() / 255)
        right += int((logits.argmax(dim=1) == truth.long()).sum())
    return right / labels.numel()
