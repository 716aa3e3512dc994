"""Degraded views that keep their geometry: low-frequency amplitudes masked, patches noised (SPA).

Nothing is moved, so that a label of each pixel is right for a view as well.
"""

from dataclasses import dataclass
from math import ceil

import torch
from torch import Tensor
from torch.nn.functional import interpolate

from trimtab.augment.draw_first import DrawFirst

GREY = 0.5
"""What a pixel value is measured from: an image without its mean is grey."""


@dataclass(frozen=True)
class LowFrequencyMask(DrawFirst[Tensor]):
    """Set random amplitudes of low spatial frequencies to zero (SPA, arXiv:2504.08010).

    Images are (batch, channels, height, width) of any size; each image and channel has its own
    mask. Opposite frequencies, which are one wave of a real image, are masked together.

    Args:
        masked: Share of the low frequencies whose amplitude is set to zero.
        low: Frequencies are low within this share of the spectrum's height and width, around zero.
    """

    masked: float = 0.2
    low: float = 0.2

    def __post_init__(self) -> None:
        for name in ("masked", "low"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must lie in [0, 1], got {getattr(self, name)}")

    def draw(self, generator: torch.Generator, shape: torch.Size) -> Tensor:
        """Which amplitudes of half the spectrum stay, (batch, channels, height, width // 2 + 1)."""
        check_images(shape)
        height, width = shape[-2:]
        kept = torch.rand(*shape[:2], height, width // 2 + 1, generator=generator) >= self.masked
        down = torch.fft.fftfreq(height).abs()[:, None] <= self.low / 2
        across = torch.fft.rfftfreq(width).abs() <= self.low / 2
        opposite = (-torch.arange(height)) % height
        half = torch.arange(height) > opposite
        for column in {0, width / 2} & {*range(width // 2 + 1)}:  # here (-f, g) is (f, g)'s wave
            one = kept[..., int(column)]
            kept[..., int(column)] = torch.where(half, one[..., opposite], one)
        spared: Tensor = ~(down & across)
        return kept | spared

    def apply(self, images: Tensor, draw: Tensor) -> Tensor:
        values = images.float() - GREY
        waves = torch.fft.rfft2(values) * draw.to(values.device)
        masked: Tensor = torch.fft.irfft2(waves, s=values.shape[-2:])
        return (masked + GREY).to(images.dtype)


@dataclass(frozen=True)
class PatchNoise(DrawFirst[tuple[Tensor, Tensor]]):
    """Mix patches with Gaussian noise, each with a share of its own (SPA, arXiv:2504.08010).

    One draw serves the whole batch. Images are (batch, channels, height, width) in [0, 1] of any
    size.

    Args:
        noise: Mean share of noise in a patch; shares are uniform from 0 to twice that, at most 1.
        patches: Along the longer side of an image; patches are square but for the borders'.
    """

    noise: float = 0.4
    patches: int = 14

    def __post_init__(self) -> None:
        if not 0 <= self.noise <= 1:
            raise ValueError(f"noise must lie in [0, 1], got {self.noise}")
        if self.patches < 1:
            raise ValueError(f"patches must be at least 1, got {self.patches}")

    def draw(self, generator: torch.Generator, shape: torch.Size) -> tuple[Tensor, Tensor]:
        """Noise and its share for each pixel, (channels, height, width) and (1, height, width)."""
        check_images(shape)
        height, width = shape[-2:]
        side = ceil(max(height, width) / self.patches)
        rows, columns = ceil(height / side), ceil(width / side)
        shares = torch.rand(1, 1, rows, columns, generator=generator) * (2 * self.noise)
        shares = interpolate(shares, scale_factor=side, mode="nearest")[0, :, :height, :width]
        noise = torch.randn(*shape[1:], generator=generator) * GREY + GREY
        return noise, shares.clamp(max=1)

    def apply(self, images: Tensor, draw: tuple[Tensor, Tensor]) -> Tensor:
        noise, shares = (part.to(images.device, torch.float32) for part in draw)
        return images.float().lerp(noise, shares).clamp(0, 1).to(images.dtype)


def check_images(shape: torch.Size) -> None:
    """Refuse what has no height and width."""
    if len(shape) != 4:
        raise ValueError(
            "this augmentation takes images of shape (batch, channels, height, width), got "
            f"{tuple(shape)}; pass augment= with one of your own"
        )
