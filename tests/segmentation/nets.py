"""Small segmentation networks, untrained but for a few steps of chance, and images for them."""

import torch
from torch import Tensor, nn

CLASSES = 5
NORMS = {"bn": nn.BatchNorm2d, "gn": lambda channels: nn.GroupNorm(2, channels)}


class SmallNet(nn.Module):
    """Logits (batch, 5, height, width), by way of half the size, as dense networks do."""

    def __init__(self, norm: str = "bn") -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.first_norm = NORMS[norm](8)  # type: ignore[operator]
        self.second = nn.Conv2d(8, 8, 3, stride=2, padding=1)
        self.second_norm = NORMS[norm](8)  # type: ignore[operator]
        self.classify = nn.Conv2d(8, CLASSES, 1)

    def forward(self, inputs: Tensor) -> Tensor:
        hidden = self.first_norm(self.first(inputs)).relu()
        hidden = self.second_norm(self.second(hidden)).relu()
        logits = self.classify(hidden)
        return nn.functional.interpolate(logits, inputs.shape[-2:], mode="bilinear")


class Mapped(nn.Module):
    """Returns a mapping with an auxiliary output, as torchvision's segmentation models do."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, inputs: Tensor) -> dict[str, Tensor]:
        logits = self.model(inputs)
        return {"out": logits, "aux": torch.zeros_like(logits)}


def net(norm: str = "bn") -> nn.Module:
    """A network whose predictions differ from pixel to pixel, and are sure enough to be kept."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        model = SmallNet(norm)
        model.classify.weight.data *= 8
        model(torch.rand(32, 3, 12, 10))  # statistics of some images
        return model


def images(count: int = 80, height: int = 12, width: int = 10) -> Tensor:
    """Smooth images in [0, 1], so that neighbouring pixels are alike."""
    generator = torch.Generator().manual_seed(1)
    coarse = torch.rand(count, 3, 4, 4, generator=generator)
    return nn.functional.interpolate(coarse, (height, width), mode="bilinear")
