"""Degraded views keep their geometry, whatever the size of the images."""

import cmath
import math

import pytest
import torch
from torch import Tensor

from trimtab.augment.degrade import LowFrequencyMask, PatchNoise


def images(height: int, width: int) -> Tensor:
    return torch.rand(3, 2, height, width, generator=torch.Generator().manual_seed(0))


def masked_by_hand(plane: Tensor, kept: Tensor) -> Tensor:
    """The sum of all waves that are kept, one by one, by the definition of Fourier's series."""
    height, width = plane.shape
    values = (plane - 0.5).tolist()
    result = torch.zeros(height, width, dtype=torch.complex128)
    for f in range(height):
        for g in range(width):
            column = g if g <= width // 2 else width - g  # the opposite wave of a real image
            row = f if g <= width // 2 else (-f) % height
            if not kept[row, column]:
                continue
            wave = [
                [cmath.exp(2j * math.pi * (f * y / height + g * x / width)) for x in range(width)]
                for y in range(height)
            ]
            size = sum(
                values[y][x] * wave[y][x].conjugate() for y in range(height) for x in range(width)
            )
            result += size * torch.tensor(wave, dtype=torch.complex128) / (height * width)
    assert result.imag.abs().max() < 1e-9  # waves were kept in pairs
    return result.real.float() + 0.5


@pytest.mark.parametrize(("height", "width"), [(6, 8), (5, 7), (8, 5)])
@pytest.mark.parametrize("low", [0.4, 1.0])
def test_a_masked_image_is_the_sum_of_the_waves_that_are_kept(
    height: int, width: int, low: float
) -> None:
    mask, batch = LowFrequencyMask(0.5, low), images(height, width)
    draw = mask.draw(torch.Generator().manual_seed(1), batch.shape)
    found = mask.apply(batch, draw)
    assert not draw.all()
    for sample in range(2):
        expected = masked_by_hand(batch[sample, 1], draw[sample, 1])
        torch.testing.assert_close(found[sample, 1], expected, atol=1e-5, rtol=0)


def test_high_frequencies_are_never_masked() -> None:
    draw = LowFrequencyMask(1.0, 0.2).draw(torch.Generator(), torch.Size((1, 3, 40, 40)))
    masked = (~draw).nonzero()
    assert masked[:, 3].max() == 4  # a tenth of 40 either way, zero among them
    assert set(masked[:, 2].tolist()) == {*range(5), *range(36, 40)}


def test_nothing_masked_and_no_noise_leave_images_as_they_are() -> None:
    batch, generator = images(9, 12), torch.Generator()
    torch.testing.assert_close(LowFrequencyMask(0.0)(batch, generator), batch)
    torch.testing.assert_close(PatchNoise(0.0)(batch, generator), batch)


def test_an_image_that_loses_all_its_waves_is_grey() -> None:
    found = LowFrequencyMask(1.0, 1.0)(images(6, 6), torch.Generator())
    torch.testing.assert_close(found, torch.full_like(found, 0.5))


@pytest.mark.parametrize(("height", "width"), [(28, 28), (20, 31), (3, 40)])
def test_noise_is_mixed_in_patch_by_patch(height: int, width: int) -> None:
    augment, batch = PatchNoise(0.4, patches=4), images(height, width)
    noise, shares = augment.draw(torch.Generator().manual_seed(1), batch.shape)
    found = augment.apply(batch, (noise, shares))
    side = math.ceil(max(height, width) / 4)
    for y in range(0, height, side):
        for x in range(0, width, side):
            share = float(shares[0, y, x])
            rows, columns = slice(y, y + side), slice(x, x + side)
            expected = (1 - share) * batch[..., rows, columns] + share * noise[..., rows, columns]
            torch.testing.assert_close(found[..., rows, columns], expected.clamp(0, 1))
    assert 0 <= shares.min() < shares.max() <= 0.8


def test_what_is_no_image_is_refused() -> None:
    for augment in (LowFrequencyMask(), PatchNoise()):
        with pytest.raises(ValueError, match=r"takes images of shape .* got \(4, 7\)"):
            augment(torch.rand(4, 7), torch.Generator())


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match=r"masked must lie in \[0, 1\], got 2"):
        LowFrequencyMask(2)
    with pytest.raises(ValueError, match=r"noise must lie in \[0, 1\], got -1"):
        PatchNoise(-1)
    with pytest.raises(ValueError, match="patches must be at least 1, got 0"):
        PatchNoise(patches=0)
