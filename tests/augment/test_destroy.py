"""Images without structure."""

import pytest
import torch
from torch import Tensor

from trimtab.augment.destroy import DESTRUCTIONS, Occlusion, PatchShuffle, PixelShuffle


def drawn(side: int = 8, batch: int = 3) -> Tensor:
    return torch.rand(batch, 3, side, side, generator=torch.Generator().manual_seed(0))


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def patches(image: Tensor, size: int) -> list[tuple[float, ...]]:
    rows = range(0, image.shape[1], size)
    cut = [image[:, r : r + size, c : c + size] for r in rows for c in rows]
    return [tuple(patch.flatten().tolist()) for patch in cut]


def test_patches_are_moved_whole_and_none_is_lost() -> None:
    images = drawn()
    shuffled = PatchShuffle()(images, seeded())
    for before, after in zip(images, shuffled, strict=True):
        assert sorted(patches(before, 2)) == sorted(patches(after, 2))
        assert patches(before, 2) != patches(after, 2)


def test_every_image_gets_an_order_of_its_own() -> None:
    image = drawn(batch=1)
    left, right = PatchShuffle()(image.expand(2, -1, -1, -1), seeded())
    assert not torch.equal(left, right)


def test_pixels_are_moved_with_all_their_channels() -> None:
    images = drawn()
    shuffled = PixelShuffle()(images, seeded())
    assert not torch.equal(shuffled, images)
    for before, after in zip(images, shuffled, strict=True):
        assert sorted(patches(before, 1)) == sorted(patches(after, 1))


def test_the_centre_is_covered_by_each_channels_mean() -> None:
    images = drawn()
    covered = Occlusion()(images, seeded())
    for image, result in zip(images, covered, strict=True):
        expected = image.clone()
        for channel in range(3):
            expected[channel, 2:6, 2:6] = image[channel].mean()
        torch.testing.assert_close(result, expected)


@pytest.mark.parametrize("name", DESTRUCTIONS)
@pytest.mark.parametrize("shape", [(2, 3, 9, 13), (1, 1, 3, 3), (2, 4, 16, 8)])
def test_any_size_keeps_its_shape_and_inputs_stay(name: str, shape: tuple[int, ...]) -> None:
    images = torch.rand(shape, generator=seeded())
    before = images.clone()
    destroyed = DESTRUCTIONS[name]()(images, seeded())
    assert destroyed.shape == shape
    assert destroyed.isfinite().all()
    assert torch.equal(images, before)
    assert torch.equal(destroyed, DESTRUCTIONS[name]()(images, seeded()))


@pytest.mark.parametrize("name", DESTRUCTIONS)
def test_what_is_no_image_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"takes images of shape .* got \(2, 5\)"):
        DESTRUCTIONS[name]()(torch.zeros(2, 5), seeded())
