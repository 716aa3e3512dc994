"""Weak and strong views."""

from typing import Any

import pytest
import torch
from torch import Tensor

from trimtab.augment.contrast import StrongView, WeakView, blur_each

IMAGES = torch.rand(40, 3, 12, 10, generator=torch.Generator().manual_seed(0))


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def only(**probabilities: float) -> StrongView:
    """A strong view in which nothing else happens."""
    none: dict[str, Any] = {
        f"{name}_probability": 0.0 for name in ("jitter", "grey", "blur", "flip")
    }
    return StrongView(**{**none, **probabilities})


def test_a_weak_view_flips_about_half_of_the_images_each_on_its_own() -> None:
    views = WeakView()(IMAGES, generator())
    flipped = [torch.equal(v, i.flip(-1)) for v, i in zip(views, IMAGES, strict=True)]
    same = [torch.equal(v, i) for v, i in zip(views, IMAGES, strict=True)]
    assert all(a != b for a, b in zip(flipped, same, strict=True))
    assert 10 < sum(flipped) < 30


def test_nothing_happens_where_nothing_may() -> None:
    assert torch.equal(only()(IMAGES, generator()), IMAGES)


def test_grey_images_have_equal_channels() -> None:
    views = only(grey_probability=1.0)(IMAGES, generator())
    assert torch.equal(views[:, 0], views[:, 1])
    half = only(grey_probability=0.5)(IMAGES, generator())
    greyed = (half[:, 0] == half[:, 1]).flatten(1).all(1)
    assert 10 < int(greyed.sum()) < 30


def test_jitter_differs_between_images_and_stays_in_range() -> None:
    same = IMAGES[:1].expand(6, -1, -1, -1)
    views = only(jitter_probability=1.0)(same, generator())
    assert len({float(view.sum()) for view in views}) == 6
    assert views.min() >= 0
    assert views.max() <= 1


def obviously_blurred(image: Tensor, deviation: float) -> Tensor:
    channels, height, width = image.shape
    result = torch.zeros_like(image)
    reach = range(-12, 13)
    for y in range(height):
        for x in range(width):
            total, value = 0.0, torch.zeros(channels)
            for dy in reach:
                for dx in reach:
                    weight = float(torch.exp(torch.tensor(-(dx**2 + dy**2) / (2 * deviation**2))))
                    row, column = min(max(y + dy, 0), height - 1), min(max(x + dx, 0), width - 1)
                    total, value = total + weight, value + weight * image[:, row, column]
            result[:, y, x] = value / total
    return result


def test_each_image_is_blurred_by_its_own_gaussian() -> None:
    images = IMAGES[:2, :, :5, :4]
    found = blur_each(images, torch.tensor([0.5, 2.0]))
    for image, original, deviation in zip(found, images, (0.5, 2.0), strict=True):
        expected = obviously_blurred(original, deviation)
        torch.testing.assert_close(image, expected, rtol=0, atol=5e-3)  # the kernel ends at 3 sigma


def test_the_generator_decides_and_inputs_stay() -> None:
    before = IMAGES.clone()
    first, again, other = (StrongView()(IMAGES, generator(seed)) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(IMAGES, before)


def test_images_of_one_channel_work_and_other_inputs_are_refused() -> None:
    assert StrongView()(IMAGES[:4, :1], generator()).shape == (4, 1, 12, 10)
    with pytest.raises(ValueError, match=r"take images of shape .*, got \(4, 7\)"):
        WeakView()(torch.zeros(4, 7), generator())
