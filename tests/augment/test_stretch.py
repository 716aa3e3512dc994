"""Stretched images have full contrast, whatever their veil was."""

import pytest
import torch
from torch import Tensor

from trimtab.augment.stretch import stretched


def plain_images(seed: int = 0) -> Tensor:
    """Made of 2 x 2 blocks, each image from 0 to 1."""
    random = torch.Generator().manual_seed(seed)
    blocks = torch.rand(6, 3, 4, 4, generator=random)
    blocks[:, 0, 0, 0], blocks[:, 1, 2, 2] = 0.0, 1.0
    return blocks.repeat_interleave(2, 2).repeat_interleave(2, 3)


def test_a_veil_is_lifted() -> None:
    images = plain_images()
    veiled = 0.3 * images + 0.6
    torch.testing.assert_close(stretched(veiled), images)


def test_images_in_full_contrast_stay_as_they_are() -> None:
    images = plain_images(1)
    torch.testing.assert_close(stretched(images), images)


def test_nothing_is_made_of_a_flat_image() -> None:
    flat = torch.full((1, 3, 8, 8), 0.5)
    flat[0, :, :2, :2] += 1e-4
    assert float(stretched(flat).std()) < 1e-3


def test_inputs_beyond_pixels_keep_their_range() -> None:
    normalised = 4 * plain_images(2) - 2
    torch.testing.assert_close(stretched(normalised), normalised)


def test_what_is_no_image_is_refused() -> None:
    with pytest.raises(ValueError, match="must have the shape"):
        stretched(torch.rand(4, 8))
