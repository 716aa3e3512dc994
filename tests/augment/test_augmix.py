"""AugMix's views."""

from math import pi

import pytest
import torch

from trimtab.augment.augmix import AugMix, warp_each, warps

IMAGE = torch.rand(1, 3, 12, 16, generator=torch.Generator().manual_seed(0))


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("side", [(16, 16), (12, 16), (80, 70)])
def test_views_of_copies_differ_and_stay_in_range(side: tuple[int, int]) -> None:
    image = torch.rand(1, 3, *side, generator=generator())
    views = AugMix()(image.expand(8, -1, -1, -1), generator())
    assert views.shape == (8, 3, *side)
    assert len({float(view.sum()) for view in views}) == 8
    assert views.min() >= 0
    assert views.max() <= 1 + 1e-6


def test_tiny_images_are_not_shifted_out_of_sight() -> None:
    views = AugMix()(torch.full((16, 3, 2, 2), 0.5), generator())
    assert views.isfinite().all()
    assert (views.flatten(1).amax(1) > 0).all()


def test_the_generator_decides_and_inputs_stay() -> None:
    images, before = IMAGE.repeat(4, 1, 1, 1), IMAGE.repeat(4, 1, 1, 1)
    first, again, other = (AugMix()(images, generator(seed)) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(images, before)


def test_small_images_are_shifted_by_whole_pixels_and_flipped() -> None:
    theta = AugMix(shift=2).draw(generator(), torch.Size((30, 3, 12, 16))).theta
    padded = torch.nn.functional.pad(IMAGE, [2] * 4)
    crops = [
        padded[0, :, down : down + 12, right : right + 16]
        for down in range(5)
        for right in range(5)
    ]
    candidates = torch.stack(crops + [crop.flip(-1) for crop in crops])
    for view in warp_each(IMAGE.expand(30, -1, -1, -1), theta):
        assert (candidates - view).abs().flatten(1).amax(1).min() < 1e-5


def test_large_images_are_cropped_inside_the_image() -> None:
    theta = AugMix().draw(generator(), torch.Size((500, 3, 100, 80))).theta
    sides, middles = theta[:, (0, 1), (0, 1)].abs(), theta[:, :, 2].abs()
    assert (sides + middles <= 1 + 1e-6).all()
    area = sides.prod(1)
    assert 0.06 < area.min() < 0.2
    assert 0.8 < area.max() <= 1
    ratio = sides[:, 0] * 80 / (sides[:, 1] * 100)
    assert 0.7 < ratio.min() < 0.8
    assert 1.2 < ratio.max() < 1.4


def test_warps_are_one_turn_shear_or_shift() -> None:
    square = torch.Size((30, 30))
    turn, shear_x, shear_y, right, down = warps(torch.arange(5), torch.full((5,), 0.5), square)
    angle = torch.tensor(15 * pi / 180)
    c, s = angle.cos(), angle.sin()
    torch.testing.assert_close(turn, torch.tensor([[c, s, 0], [-s, c, 0]]))
    torch.testing.assert_close(shear_x, torch.tensor([[1, 0.15, 0], [0, 1, 0]]))
    torch.testing.assert_close(shear_y, torch.tensor([[1, 0, 0], [0.15, 1, 0]]))
    torch.testing.assert_close(right, torch.tensor([[1, 0, 2 * 5 / 30], [0, 1, 0]]))
    torch.testing.assert_close(down, torch.tensor([[1, 0, 0], [0, 1, 2 * 5 / 30]]))


def test_a_quarter_turn_keeps_its_shape_on_an_oblong_image() -> None:
    """Turning by 90 degrees twice is turning by 180, whatever the sides."""
    image = torch.zeros(1, 1, 9, 5)
    image[0, 0, 4, 2] = 1  # the middle stays
    half = warps(torch.tensor([0]), torch.tensor([6.0]), torch.Size((9, 5)))
    torch.testing.assert_close(warp_each(image, half), image, rtol=0, atol=1e-5)
    torch.testing.assert_close(
        warp_each(IMAGE, warps(torch.tensor([0]), torch.tensor([6.0]), IMAGE.shape[-2:])),
        IMAGE.flip(-1, -2),
        rtol=0,
        atol=1e-4,
    )


def test_settings_and_inputs_are_checked() -> None:
    with pytest.raises(ValueError, match="chains must be at least 1, got 0"):
        AugMix(chains=0)
    with pytest.raises(ValueError, match=r"takes images of shape .*, got \(4, 7\)"):
        AugMix()(torch.zeros(4, 7), generator())
