"""Small images and large ones: where the literature's defaults change."""

SMALL_IMAGE_SIDE = 64
"""Images of up to this many pixels a side are small: the literature adapts them with Adam."""


def is_small(sample_shape: tuple[int, ...]) -> bool:
    """Whether samples of this shape are small images, or no images at all."""
    return len(sample_shape) < 3 or max(sample_shape[-2:]) <= SMALL_IMAGE_SIDE
