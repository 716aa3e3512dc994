"""Fast ways against slow obvious ones."""

import hashlib
import io

import numpy as np
import pytest
import torch
from PIL import Image

from streams.pictures import pictures
from trimtab.streams.corruptions import corrupt
from trimtab.streams.corruptions.blur import disk
from trimtab.streams.corruptions.convolve import (
    ONE,
    blur_along_lines,
    filter_bytes,
    fixed_point,
    gaussian,
    smooth,
)
from trimtab.streams.corruptions.frost_texture import procedural_textures
from trimtab.streams.corruptions.jpeg import jpeg_compression
from trimtab.streams.corruptions.noise import gaussian_noise, impulse_noise, shot_noise
from trimtab.streams.corruptions.plasma import plasma
from trimtab.streams.corruptions.scatter import scatter_pixels
from trimtab.streams.draws import Draws


@pytest.mark.parametrize(("shift", "passes"), [(1, 1), (2, 2), (4, 1)])
def test_scattering_at_once_equals_scattering_pixel_by_pixel(shift, passes):
    images = torch.from_numpy(pictures(3, 23, 31))
    fast = scatter_pixels(images, Draws(0, "glass", range(3)), shift, passes)
    np.testing.assert_array_equal(fast, _scatter_slowly(images.numpy().copy(), shift, passes))


def _scatter_slowly(images, shift, passes):
    from trimtab.streams.corruptions.scatter import turn_order

    count, height, width = images.shape[:3]
    turns = turn_order(height, width, shift)
    draws = Draws(0, "glass", range(count))
    for _ in range(passes):
        offsets = draws.integers(-shift, shift, 2, len(turns))
        for image, (down, right) in zip(images, offsets, strict=True):
            drawn = dict(zip(turns, zip(down, right, strict=True), strict=True))
            for row in range(height - shift, shift, -1):
                for column in range(width - shift, shift, -1):
                    dy, dx = drawn[row * width + column]
                    image[row, column] = image[row + dy, column + dx]
    return images


@pytest.mark.parametrize("radius", [1.5, 3, 6, 10])
def test_filtering_equals_a_sum_over_the_kernel(radius):
    images = torch.from_numpy(pictures(2, 30, 26))
    kernel = disk(radius, 0.5)
    margin = len(kernel) // 2
    padded = np.pad(
        images.numpy().astype(float), ((0, 0), (margin,) * 2, (margin,) * 2, (0, 0)), "reflect"
    )
    slow = np.zeros(images.shape)
    for row, column in np.ndindex(kernel.shape):
        slow += kernel[row, column] * padded[:, row : row + 30, column : column + 26]
    np.testing.assert_allclose(filter_bytes(images, kernel), slow, atol=0.1)


def test_a_fixed_point_kernel_keeps_its_sum():
    weights = fixed_point(gaussian(3.0))
    assert weights.sum() == ONE
    np.testing.assert_allclose(weights / ONE, gaussian(3.0), atol=1 / ONE)


@pytest.mark.parametrize("border", ["edge", "symmetric"])
@pytest.mark.parametrize("sigma", [0.05, 0.7, 3.0, 20.0])
def test_smoothing_equals_a_weighted_sum_along_both_axes(sigma, border):
    fields = torch.rand(2, 19, 23, 2, generator=torch.Generator().manual_seed(0))
    weights = gaussian(sigma)
    slow = fields.numpy().astype(float)
    for axis in (1, 2):
        slow = np.apply_along_axis(lambda line: _blurred_line(line, weights, border), axis, slow)
    np.testing.assert_allclose(smooth(fields, sigma, border=border), slow, atol=1e-5)


def _blurred_line(line, weights, border):
    return np.convolve(np.pad(line, len(weights) // 2, mode=border), weights, mode="valid")


def test_a_motion_blur_along_the_row_is_a_half_gaussian():
    images = torch.zeros(1, 9, 61, 3, dtype=torch.uint8)
    images[0, 4, 40] = 255
    blurred = blur_along_lines(images, 5, 3.0, torch.zeros(1))[0, :, :, 0].numpy()
    weights = np.exp(-0.5 * (np.arange(11) / 3.0) ** 2)
    np.testing.assert_allclose(blurred[4, 30:41][::-1], 255 * weights / weights.sum(), atol=0.01)
    assert np.count_nonzero(np.delete(blurred, 4, axis=0)) == 0


def test_shot_noise_has_the_mean_and_variance_of_a_poisson_count():
    images = torch.full((40, 32, 32, 3), 60, dtype=torch.uint8)
    counts = shot_noise(images, Draws(0, "shot", range(40)), 85.0).double() / 3
    assert counts.mean() == pytest.approx(20, abs=0.05)
    assert counts.var() == pytest.approx(20, rel=0.02)


def test_gaussian_noise_has_the_stated_spread():
    images = torch.full((40, 32, 32, 3), 128, dtype=torch.uint8)
    noisy = gaussian_noise(images, Draws(0, "noise", range(40)), 0.08).double()
    assert noisy.std() == pytest.approx(0.08 * 255, rel=0.01)
    assert noisy.mean() == pytest.approx(127.5, abs=0.2)  # truncation takes half a step


def test_impulse_noise_hits_the_stated_share_half_black_half_bright():
    images = torch.full((40, 32, 32, 3), 128, dtype=torch.uint8)
    noisy = impulse_noise(images, Draws(0, "noise", range(40)), 0.2)
    assert (noisy == 0).double().mean() == pytest.approx(0.1, rel=0.03)
    assert (noisy == 255).double().mean() == pytest.approx(0.1, rel=0.03)


@pytest.mark.parametrize("quality", [7, 25, 50, 80])
def test_jpeg_looks_as_pillow_writes_it(quality):
    image = pictures(1, 75, 93)[0]
    file = io.BytesIO()
    Image.fromarray(image).save(file, "JPEG", quality=quality)
    theirs = np.asarray(Image.open(file)).astype(int)
    ours = jpeg_compression(torch.from_numpy(image)[None], Draws(0, "jpeg", [0]), quality)[0]
    difference = np.abs(ours.numpy() - theirs)
    assert (difference > 1).mean() < 0.02
    assert difference.mean() < 0.1


@pytest.mark.parametrize("level", range(1, 6))
def test_pixelate_equals_pillows_box_filter(level):
    image = pictures(1, 90, 111)[0]
    share = (0.6, 0.5, 0.4, 0.3, 0.25)[level - 1]
    small = Image.fromarray(image).resize((int(111 * share), int(90 * share)), Image.Resampling.BOX)
    theirs = np.asarray(small.resize((111, 90), Image.Resampling.BOX))
    np.testing.assert_array_equal(corrupt(image[None], "pixelate", level)[0], theirs)


def test_plasma_fills_the_unit_interval_and_gets_smoother_with_decay():
    rough, smooth_field = (plasma(Draws(0, "p", range(4)), 64, 64, decay) for decay in (1.4, 3.0))
    for field in (rough, smooth_field):
        assert field.shape == (4, 64, 64)
        assert field.amin() == 0
        assert field.amax() == 1
    assert rough.diff(dim=2).abs().mean() > 3 * smooth_field.diff(dim=2).abs().mean()


def test_elastic_transform_of_a_plane_moves_it_within_the_stated_shift():
    ramp = np.broadcast_to(np.arange(96, dtype=np.uint8)[None, :, None] * 2, (96, 96, 3))
    moved = corrupt(np.array(ramp)[None], "elastic_transform", 3)[0].numpy().astype(float)
    centre = slice(24, 72)
    shift = np.abs(moved - ramp)[centre, centre] / 2
    assert 0 < shift.max() < 244 * 0.02 * 3 + 244 * 0.05


def test_the_frost_textures_differ_and_have_room_for_crops():
    textures = procedural_textures(32, 48)
    assert len(textures) == 5
    assert all(texture.shape[0] >= 32 and texture.shape[1] >= 48 for texture in textures)
    means = sorted(float(texture.float().mean()) for texture in textures)
    assert means[-1] - means[0] > 50


@pytest.mark.parametrize("quality", [1, 7, 25, 80, 100])
def test_jpeg_of_grey_equals_its_transform_in_whole_numbers(quality):
    random = np.random.default_rng(quality)
    grey = np.stack([random.integers(0, 2, (24, 40)) * 255, random.integers(0, 256, (24, 40))])
    images = torch.from_numpy(grey.astype(np.uint8))[..., None].repeat(1, 1, 1, 3)
    fast = jpeg_compression(images, Draws(0, "jpeg", range(2)), quality).numpy()
    filled = np.pad(grey, ((0, 0), (0, 8), (0, 8)), "edge")
    slow = np.stack([_jpeg_slowly(picture, quality) for picture in filled])[:, :24, :40]
    np.testing.assert_array_equal(fast, slow[..., None].repeat(3, 3))


def _jpeg_slowly(grey, quality):
    """Block by block: the cosines times 2^13, each sum divided and rounded, halves up."""
    steps = np.arange(8)
    angles = np.cos((2 * steps + 1) * steps[:, None] * np.pi / 16)
    cosines = np.rint(8192 * np.where(steps[:, None] > 0, np.sqrt(2), 1) * angles).astype(np.int64)
    percent = 5000 // quality if quality < 50 else 200 - 2 * quality
    table = ((np.array(LUMA_TABLE) * percent + 50) // 100).clip(1, 255)
    result = np.empty_like(grey)
    for row, column in np.ndindex(grey.shape[0] // 8, grey.shape[1] // 8):
        place = np.s_[8 * row : 8 * row + 8, 8 * column : 8 * column + 8]
        spectrum = cosines @ ((grey[place] @ cosines.T + (1 << 10)) >> 11)
        spectrum = (spectrum + (1 << 14)) >> 15
        spectrum[0, 0] -= 8192
        levels = np.sign(spectrum) * ((np.abs(spectrum) + 4 * table) // (8 * table))
        kept = (cosines.T @ (levels * table) + (1 << 10)) >> 11
        result[place] = (((kept @ cosines + (1 << 17)) >> 18) + 128).clip(0, 255)
    return result


LUMA_TABLE = [
    [16, 11, 10, 16, 24, 40, 51, 61],
    [12, 12, 14, 19, 26, 58, 60, 55],
    [14, 13, 16, 24, 40, 57, 69, 56],
    [14, 17, 22, 29, 51, 87, 80, 62],
    [18, 22, 37, 56, 68, 109, 103, 77],
    [24, 35, 55, 64, 81, 104, 113, 92],
    [49, 64, 78, 87, 103, 121, 120, 101],
    [72, 92, 95, 98, 112, 100, 103, 99],
]


@pytest.mark.parametrize(
    ("name", "digest"), [("jpeg_compression", "4c7ffd8fe27c5348"), ("pixelate", "3af65c65c0cf95f9")]
)
def test_bytes_are_those_of_the_first_edition(name, digest):
    noise = np.random.default_rng(1).integers(0, 256, (2, 50, 45, 3)).astype(np.uint8)
    found = hashlib.sha256()
    for images in (pictures(3), pictures(2, 100, 75), noise):
        for level in range(1, 6):
            found.update(corrupt(images, name, level).numpy().tobytes())
    assert found.hexdigest()[:16] == digest
