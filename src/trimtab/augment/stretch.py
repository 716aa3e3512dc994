"""Histogram stretching (autocontrast): images in full contrast, whatever veil lies over them."""

from torch import Tensor
from torch.nn.functional import avg_pool2d

LEAST_RANGE = 0.05
"""Images that are flatter are stretched as if they had this range: nothing is made of nothing."""


def stretched(images: Tensor) -> Tensor:
    """Images with their values spread over [0, 1], all channels alike, so that hues stay.

    The darkest and the brightest 2 x 2 pixels of each image become 0 and 1. Where inputs reach
    beyond [0, 1], their whole range takes its place.
    """
    if images.dim() != 4:
        raise ValueError(
            "images must have the shape (batch, channels, height, width) to be stretched, got "
            f"{tuple(images.shape)}"
        )
    side = min(2, *images.shape[-2:])
    pooled = avg_pool2d(images, side)
    low, high = (ends((1, 2, 3), keepdim=True) for ends in (pooled.amin, pooled.amax))
    floor, ceiling = images.amin().clamp(max=0.0), images.amax().clamp(min=1.0)
    span = (high - low).clamp(min=LEAST_RANGE * float(ceiling - floor))
    return (floor + (images - low) / span * (ceiling - floor)).clamp(floor, ceiling)
