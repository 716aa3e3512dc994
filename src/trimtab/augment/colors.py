"""Changes of colour. Images are (batch, 3, height, width) in [0, 1], and so are the results.

Amounts are a number for all images, or a tensor of shape (batch, 1, 1, 1).
"""

from collections.abc import Callable

import torch
from torch import Tensor

Amount = float | Tensor

LUMA = (0.299, 0.587, 0.114)
"""Shares of red, green and blue in an image's grey value."""


def grey(images: Tensor) -> Tensor:
    """Grey value of each pixel, one channel."""
    if images.shape[1] != 3:
        return images.mean(1, keepdim=True)
    shares = images.new_tensor(LUMA).view(1, 3, 1, 1)
    return (images * shares).sum(1, keepdim=True)


def brightness(images: Tensor, factor: Amount) -> Tensor:
    """Images made darker (below 1) or brighter (above 1)."""
    return (images * factor).clamp(0, 1)


def contrast(images: Tensor, factor: Amount) -> Tensor:
    """Images pulled towards (below 1) or away from their own mean grey."""
    mean = grey(images).mean((1, 2, 3), keepdim=True)
    return torch.lerp(mean, images, factor).clamp(0, 1)


def saturation(images: Tensor, factor: Amount) -> Tensor:
    """Colours pulled towards (below 1) or away from grey."""
    return torch.lerp(grey(images), images, factor).clamp(0, 1)


def gamma(images: Tensor, exponent: Amount) -> Tensor:
    """Images raised to a power."""
    return images.clamp(1e-8, 1).pow(exponent)


def shift_hue(images: Tensor, turn: Amount) -> Tensor:
    """RGB images with their hue moved by ``turn`` of the colour circle.

    A colour is value - chroma * ramp(hue), with one ramp for each channel; so the hue can be
    found, moved and turned back without a table of cases.
    """
    # pairwise, since amax over three channels takes many times as long
    red, green, blue = images.split(1, dim=1)
    value = torch.maximum(torch.maximum(red, green), blue)
    chroma = value - torch.minimum(torch.minimum(red, green), blue)
    # without chroma all three gaps are 0, whatever they are divided by
    gaps = (value - images).div_(chroma.clamp(min=torch.finfo(images.dtype).tiny))
    red, green, blue = gaps.split(1, dim=1)
    sixths = torch.where(
        red == 0, blue - green, torch.where(green == 0, 2 + red - blue, 4 + green - red)
    )
    moved = sixths + 6 * turn
    starts = images.new_tensor([5.0, 3.0, 1.0]).view(1, 3, 1, 1)
    position = starts + moved
    position.sub_((position / 6).floor_(), alpha=6)
    ramp = torch.minimum(position, 4 - position).clamp_(0, 1)
    return torch.addcmul(value, chroma, ramp, value=-1).clamp_(0, 1)


def autocontrast(images: Tensor) -> Tensor:
    """Each channel of each image stretched to [0, 1]; a constant one stays."""
    low, high = images.amin((2, 3), keepdim=True), images.amax((2, 3), keepdim=True)
    span = torch.where(high > low, high - low, torch.ones_like(low))
    return torch.where(high > low, (images - low) / span, images)


def equalize(images: Tensor) -> Tensor:
    """Each channel of each image with its 256 grey values spread evenly; a constant one stays."""
    values = (images * 255).round().long().flatten(2)
    counts = values.new_zeros(*values.shape[:2], 256)
    counts.scatter_add_(2, values, torch.ones_like(values))
    below = counts.cumsum(2) - counts
    of_brightest = counts.gather(2, values.amax(2, keepdim=True))
    step = (values.shape[2] - of_brightest) // 255
    spread = ((step // 2 + below) // step.clamp(min=1)).clamp(max=255)
    spread = torch.where(step > 0, spread, torch.arange(256, device=images.device))
    return (spread.gather(2, values) / 255).to(images.dtype).view_as(images)


def posterize(images: Tensor, level: Tensor) -> Tensor:
    """Images in 4 bits a channel at level 0, down to none at level 1; level is (batch,)."""
    size = 2.0 ** (4 + (4 * level).trunc()).view(-1, 1, 1, 1)
    return ((images * 255 / size).floor() * size / 255).clamp(0, 1)


def solarize(images: Tensor, level: Tensor) -> Tensor:
    """Images with their brightest values inverted, all of them at level 1; level is (batch,)."""
    threshold = (1 - (256 * level).trunc() / 256).view(-1, 1, 1, 1)
    return torch.where(images < threshold, images, 1 - images)


COLOR_CHANGES: dict[str, Callable[..., Tensor]] = {
    "brightness": brightness,
    "contrast": contrast,
    "saturation": saturation,
    "hue": shift_hue,
    "gamma": gamma,
}
