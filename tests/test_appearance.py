"""Noticing that a domain has changed."""

import pytest
import torch

from trimtab.appearance import appearance, distance
from trimtab.streams.corruptions import Corruptor
from trimtab.streams.embedded import load


def shown(level: int, corruption: str, first: int) -> torch.Tensor:
    """Sixty-four embedded images, corrupted unless the level is 0."""
    picked = torch.randperm(3000, generator=torch.Generator().manual_seed(5))[first : first + 64]
    images = load().images[picked.numpy()]
    pixels = Corruptor()(images, corruption, level) if level else torch.as_tensor(images)
    return pixels.permute(0, 3, 1, 2) / 255


def test_mean_and_variance_of_brightness_contrast_and_detail() -> None:
    inputs = torch.rand(9, 3, 4, 5, generator=torch.Generator().manual_seed(0))
    found = appearance(inputs)
    assert found is not None
    rows = [
        (x.mean(), x.std(correction=0), (x[..., 1:] - x[..., :-1]).abs().mean()) for x in inputs
    ]
    by_hand = torch.tensor([[float(value) for value in row] for row in rows])
    torch.testing.assert_close(found.mean, by_hand.mean(0))
    torch.testing.assert_close(found.variance, by_hand.var(0))


@pytest.mark.parametrize("corruption", ["fog", "contrast"])
def test_another_corruption_is_far_and_another_batch_is_near(corruption: str) -> None:
    plain, other = (appearance(shown(0, corruption, first)) for first in (0, 64))
    corrupted = appearance(shown(5, corruption, 128))
    assert plain is not None
    assert other is not None
    assert corrupted is not None
    assert distance(plain, plain) == 0
    assert distance(plain, other) < 0.5 < distance(plain, corrupted)


@pytest.mark.parametrize("shape", [(8, 6), (8, 1), (8, 3, 2, 1)])
def test_inputs_of_any_shape_have_an_appearance(shape: tuple[int, ...]) -> None:
    found = appearance(torch.rand(shape))
    assert found is not None
    assert distance(found, found) == 0


def test_few_samples_and_values_that_are_not_finite_tell_nothing() -> None:
    assert appearance(torch.rand(7, 3, 4, 4)) is None
    assert appearance(torch.full((8, 3, 4, 4), torch.inf)) is None
