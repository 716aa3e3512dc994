"""Small pictures of clothes on disk."""

from pathlib import Path

import torch
from PIL import Image
from torch import nn

from trimtab.streams.embedded import embedded_images


def write(folder: Path, count: int, size: int = 32) -> list[Path]:
    """``000.png``, ``001.png``, ... of the embedded images."""
    folder.mkdir(parents=True, exist_ok=True)
    pixels, _ = embedded_images()
    paths = [folder / f"{number:03}.png" for number in range(count)]
    for number, path in enumerate(paths):
        Image.fromarray(pixels[number]).resize((size, size)).save(path)
    return paths


def tiny_net(num_classes: int = 3) -> nn.Module:
    """A network for images of any size."""
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.GroupNorm(2, 4), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(4, num_classes),
    )  # fmt: skip
