"""The augmentation against slow and obvious versions of its parts."""

import colorsys
from math import cos, exp, floor, radians, sin

import pytest
import torch
from torch import Tensor

from trimtab.augment import ColorAffineBlurNoise, ColorAffineFlip
from trimtab.augment.color_affine import Augment, augmented, blur, warp
from trimtab.augment.colors import grey, shift_hue

IMAGES = torch.rand(3, 3, 12, 12, generator=torch.Generator().manual_seed(0))


def reflected(index: int, size: int) -> int:
    """Mirror without repeating the edge: -1 is 1, size is size - 2."""
    period = 2 * (size - 1)
    index %= period
    return index if index < size else period - index


def sample(image: Tensor, x: float, y: float) -> Tensor:
    height, width = image.shape[-2:]
    left, top = floor(x), floor(y)
    result = torch.zeros(image.shape[0])
    for dy in (0, 1):
        for dx in (0, 1):
            share = (1 - abs(x - left - dx)) * (1 - abs(y - top - dy))
            column, row = reflected(left + dx, width), reflected(top + dy, height)
            result += share * image[:, row, column]
    return result


def warp_by_hand(
    image: Tensor, angle: float, scale: float, right: float, down: float, mirror: bool
) -> Tensor:
    """Each output pixel: undo the flip, the shift, the turn and the scale, then look there."""
    height, width = image.shape[-2:]
    middle_x, middle_y = (width - 1) / 2, (height - 1) / 2
    result = torch.empty_like(image)
    for row in range(height):
        for column in range(width):
            from_column = width - 1 - column if mirror else column
            x, y = from_column - middle_x - right, row - middle_y - down
            back_x = (cos(angle) * x + sin(angle) * y) / scale
            back_y = (-sin(angle) * x + cos(angle) * y) / scale
            result[:, row, column] = sample(image, back_x + middle_x, back_y + middle_y)
    return result


@pytest.mark.parametrize(
    ("degrees", "scale", "right", "down", "mirror"),
    [(0, 1, 0, 0, False), (0, 1, 0, 0, True), (12, 0.9, 2, -1, False), (-15, 1.1, -1, 1, True)],
)
def test_the_warp_equals_a_pixel_by_pixel_one(
    degrees: float, scale: float, right: float, down: float, mirror: bool
) -> None:
    angle = radians(degrees)
    fused = warp(IMAGES, angle, scale, (right, down), -1.0 if mirror else 1.0)
    for image, warped in zip(IMAGES, fused, strict=True):
        expected = warp_by_hand(image, angle, scale, right, down, mirror)
        torch.testing.assert_close(warped, expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("turn", [0.0, 0.06, -0.06, 0.4, -0.3])
def test_hue_shifts_equal_the_standard_librarys(turn: float) -> None:
    edge_cases = torch.tensor([[0.5, 0.5, 0.5], [1, 0, 0], [0, 1, 1], [0.2, 0.2, 0.9]])
    pixels = torch.cat([IMAGES.permute(0, 2, 3, 1).reshape(-1, 3), edge_cases])
    expected = []
    for red, green, blue in pixels.tolist():
        hue, saturation, value = colorsys.rgb_to_hsv(red, green, blue)
        expected.append(colorsys.hsv_to_rgb((hue + turn) % 1, saturation, value))
    shifted = shift_hue(pixels.T[None, :, :, None], turn)
    torch.testing.assert_close(shifted[0, :, :, 0].T, torch.tensor(expected), atol=1e-5, rtol=0)


def test_nothing_drawn_changes_nothing() -> None:
    still = ColorAffineFlip(
        brightness=(1, 1), contrast=(1, 1), saturation=(1, 1), hue=(0, 0), gamma=(1, 1),
        rotation=0, translation=0, scale=(1, 1), flip_probability=0,
    )  # fmt: skip
    view = still(IMAGES, torch.Generator().manual_seed(0))
    torch.testing.assert_close(view, IMAGES, atol=1e-5, rtol=0)


def test_one_draw_serves_the_whole_batch() -> None:
    augment = ColorAffineFlip()
    twins = augment(IMAGES[:1].repeat(4, 1, 1, 1), torch.Generator().manual_seed(1))
    torch.testing.assert_close(twins, twins[:1].expand_as(twins))
    alone = augment(IMAGES[:1], torch.Generator().manual_seed(1))
    torch.testing.assert_close(twins[:1], alone)


def test_large_batches_get_one_draw_too(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ColorAffineFlip()(IMAGES, torch.Generator().manual_seed(1))
    monkeypatch.setattr("trimtab.augment.color_affine.VALUES_AT_ONCE", 3 * 12 * 12)
    generator = torch.Generator().manual_seed(1)
    torch.testing.assert_close(ColorAffineFlip()(IMAGES, generator), whole)
    afterwards = torch.Generator().manual_seed(1)
    ColorAffineFlip()(IMAGES[:1], afterwards)
    assert torch.equal(generator.get_state(), afterwards.get_state())


def test_the_generator_decides_and_results_stay_images() -> None:
    augment = ColorAffineFlip()
    views = [augment(IMAGES, torch.Generator().manual_seed(seed)) for seed in range(20)]
    assert all(view.min() >= 0 and view.max() <= 1 for view in views)
    assert not torch.equal(views[0], views[1])
    assert torch.equal(views[0], augment(IMAGES, torch.Generator().manual_seed(0)))


@pytest.mark.parametrize("channels", [1, 4])
def test_images_of_other_channel_counts_keep_their_shape(channels: int) -> None:
    images = torch.rand(2, channels, 8, 10)
    assert ColorAffineFlip()(images, torch.Generator()).shape == images.shape


def test_what_is_no_image_is_refused_with_a_way_out() -> None:
    with pytest.raises(ValueError, match=r"got \(4, 9\); pass augment="):
        ColorAffineFlip()(torch.zeros(4, 9), torch.Generator())


def test_grey_is_the_luma_of_colour_images() -> None:
    assert grey(torch.ones(1, 3, 2, 2)).unique().tolist() == pytest.approx([1.0])


def clamped(image: Tensor, row: int, column: int) -> Tensor:
    height, width = image.shape[-2:]
    return image[:, min(max(row, 0), height - 1), min(max(column, 0), width - 1)]


def test_a_border_warp_repeats_the_edge_and_shows_a_margin() -> None:
    shifted = warp(IMAGES, 0.0, 1.0, (3.0, -2.0), 1.0, padding="border", margin=2)
    assert shifted.shape == (3, 3, 16, 16)
    for row in range(16):
        for column in range(16):
            expected = clamped(IMAGES[0], row - 2 + 2, column - 2 - 3)
            torch.testing.assert_close(shifted[0, :, row, column], expected, rtol=0, atol=1e-5)


def test_a_margin_only_adds_surroundings() -> None:
    narrow, wide = (
        warp(IMAGES, 0.2, 1.1, (1.0, 2.0), -1.0, padding="border", margin=m) for m in (0, 2)
    )
    torch.testing.assert_close(wide[..., 2:-2, 2:-2], narrow, rtol=0, atol=1e-5)


def test_blur_equals_a_sum_over_neighbours() -> None:
    found = blur(IMAGES, 0.5, 2)
    weights = torch.tensor([exp(-0.5 * (offset / 0.5) ** 2) for offset in range(-2, 3)])
    weights = weights / weights.sum()
    window = IMAGES[1, :, 3:8, 4:9]
    expected = (window * weights[:, None] * weights).sum((1, 2))
    torch.testing.assert_close(found[1, :, 3, 4], expected)
    torch.testing.assert_close(blur(IMAGES, 0.001, 2), IMAGES[..., 2:-2, 2:-2])


def test_blur_and_noise_follow_one_draw_for_the_whole_batch() -> None:
    same = IMAGES[:1].expand(3, -1, -1, -1)
    views = ColorAffineBlurNoise(noise=0.0)(same, torch.Generator().manual_seed(0))
    assert torch.equal(views[0], views[1])
    assert views.shape == same.shape
    noisy = ColorAffineBlurNoise()(same, torch.Generator().manual_seed(0))
    inside = (views > 0.05) & (views < 0.95)
    spread = (noisy - views)[inside].std()
    assert 0.004 < float(spread) < 0.006
    assert not torch.equal(noisy[0], noisy[1])


def test_without_any_change_the_view_is_the_image() -> None:
    still = ColorAffineBlurNoise(
        brightness=(1.0, 1.0),
        contrast=(1.0, 1.0),
        saturation=(1.0, 1.0),
        hue=(0.0, 0.0),
        gamma=(1.0, 1.0),
        rotation=0.0,
        translation=0.0,
        scale=(1.0, 1.0),
        flip_probability=0.0,
        blur=(0.001, 0.001),
        noise=0.0,
    )
    views = still(IMAGES, torch.Generator().manual_seed(0))
    torch.testing.assert_close(views, IMAGES, rtol=0, atol=1e-5)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("kind", [ColorAffineFlip, ColorAffineBlurNoise])
def test_batches_altered_in_one_call_are_altered_as_alone_to_the_bit(
    kind: type[ColorAffineFlip], channels: int
) -> None:
    augment = kind()
    generator = torch.Generator().manual_seed(0)
    batches = [torch.rand(size, channels, 17, 14, generator=generator) for size in (1, 3, 1, 2)]
    for _ in range(5):
        draws = [augment.draw(generator, batch.shape) for batch in batches]
        together = augment.apply_each(batches, draws)
        for batch, draw, found in zip(batches, draws, together, strict=True):
            assert torch.equal(found, augment.apply(batch, draw))


@pytest.mark.parametrize(
    ("augment", "got"),
    [
        (lambda x: x[:1], "got 1 samples"),
        (lambda x: x[:, :1], "with 1 channels"),
        (lambda x: x.numpy(), "got ndarray"),
    ],
)
def test_an_augmentation_that_makes_something_else_is_refused(augment: Augment, got: str) -> None:
    with pytest.raises(ValueError, match=f"an augmentation must return what it is given, .*{got}"):
        augmented(augment, IMAGES, torch.Generator())


def test_what_an_augmentation_writes_into_is_not_the_callers() -> None:
    inputs = IMAGES.clone()
    altered = augmented(lambda x: x.add_(1), inputs, torch.Generator())
    assert torch.equal(inputs, IMAGES)
    assert torch.equal(altered, IMAGES + 1)
