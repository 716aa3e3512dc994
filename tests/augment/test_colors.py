"""Changes of colour against slow and obvious versions."""

import torch
from torch import Tensor

from trimtab.augment.colors import (
    autocontrast,
    brightness,
    contrast,
    equalize,
    grey,
    posterize,
    saturation,
    shift_hue,
    solarize,
)

IMAGES = torch.rand(3, 3, 20, 24, generator=torch.Generator().manual_seed(0))
AMOUNTS = torch.tensor([0.3, 1.0, 1.7]).view(-1, 1, 1, 1)


def test_each_image_can_have_an_amount_of_its_own() -> None:
    for change in (brightness, contrast, saturation, shift_hue):
        expected = [
            change(image[None], float(amount))
            for image, amount in zip(IMAGES, AMOUNTS, strict=True)
        ]
        torch.testing.assert_close(change(IMAGES, AMOUNTS), torch.cat(expected))


def test_saturation_zero_is_grey() -> None:
    torch.testing.assert_close(saturation(IMAGES, 0.0), grey(IMAGES).expand_as(IMAGES))


def test_autocontrast_stretches_each_channel_and_leaves_a_constant_one() -> None:
    images = IMAGES * 0.5 + 0.2
    images[0, 1] = 0.3
    stretched = autocontrast(images)
    assert (stretched[0, 1] == 0.3).all()
    assert stretched[0, 0].min() == 0
    assert stretched[0, 0].max() == 1
    order = images[1, 2].flatten().argsort()
    assert (stretched[1, 2].flatten()[order].diff() >= 0).all()


def obviously_equalized(channel: Tensor) -> Tensor:
    values = (channel * 255).round().int().flatten().tolist()
    counts = [values.count(value) for value in range(256)]
    step = (len(values) - counts[max(values)]) // 255
    if not step:
        return channel
    table, total = [], step // 2
    for count in counts:
        table.append(min(total // step, 255))
        total += count
    return torch.tensor([table[value] / 255 for value in values]).view_as(channel)


def test_equalize_spreads_each_channels_values() -> None:
    images = (IMAGES.square() * 255).round() / 255
    images[2, 0] = 0.4
    found = equalize(images)
    for image, expected in zip(found.flatten(0, 1), images.flatten(0, 1), strict=True):
        torch.testing.assert_close(image, obviously_equalized(expected), rtol=0, atol=1e-6)


def test_posterize_keeps_four_bits_at_low_levels_and_fewer_at_high_ones() -> None:
    images = (IMAGES * 255).round() / 255
    found = posterize(images, torch.tensor([0.1, 0.5, 1.0]))
    for image, original, bits in zip(found, images, (4, 2, 0), strict=True):
        whole = (original * 255).round().int()
        expected = (whole >> (8 - bits)) << (8 - bits)
        torch.testing.assert_close(image, expected / 255, rtol=0, atol=1e-6)


def test_solarize_inverts_what_is_brighter_than_the_threshold() -> None:
    found = solarize(IMAGES, torch.tensor([0.0, 0.5, 1.0]))
    assert torch.equal(found[0], IMAGES[0])
    assert torch.equal(found[1], torch.where(IMAGES[1] < 0.5, IMAGES[1], 1 - IMAGES[1]))
    assert torch.equal(found[2], 1 - IMAGES[2])
