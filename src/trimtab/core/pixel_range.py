"""The range of a first batch's pixels: augmentations clamp to [0, 1], so others must be known."""

from torch import Tensor

from trimtab.augment.normalization import Normalization
from trimtab.core.advice import advise

SLACK = 0.05
"""Resizing overshoots a little."""

LEAST_OF_8_BITS, MOST_OF_16_BITS = 16.0, 2.0**16
"""Largest values between these, without negative ones, are those of files and sensors."""


def check_range(images: Tensor, known: Normalization | None) -> None:
    """Refuse values of 8 or 16 bits; advise on images that are normalised in an unknown way."""
    pixels = images if known is None else known.to_pixels(images)
    rows = pixels.flatten(1)  # judged by the sample in the middle: one may be broken
    low, high = round(rows.amin(1).median().item(), 2), round(rows.amax(1).median().item(), 2)
    if low >= -SLACK and high <= 1 + SLACK:
        return
    if known is not None:
        advise(
            f"with normalization={known}, pixels lie in [{low}, {high}] where they should lie in "
            "[0, 1]: augmentations will clamp them; pass the mean and std that your images were "
            "normalised with"
        )
    elif low >= 0 and LEAST_OF_8_BITS < high <= MOST_OF_16_BITS:
        raise ValueError(
            f"values lie in [{low}, {high}], and this method augments images in [0, 1]; divide "
            "them by 255, or pass normalization=(0, 1/255) where the model takes them as they are"
        )
    else:
        advise(
            f"values lie in [{low}, {high}], and this method augments images in [0, 1], so it will "
            "clamp them; pass normalization=(mean, std) as your images were normalised, or a name: "
            "'imagenet', 'cifar10', 'half', or 'model' for what a timm or torchvision model says"
        )
