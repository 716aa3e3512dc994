"""Noticing that a domain has changed, and not taking classes for domains."""

import numpy as np
import pytest
import torch

from trimtab.core.looks import NUM_LOOKS, Looks, distance, looks_of
from trimtab.streams.corruptions import Corruptor
from trimtab.streams.embedded import load


def shown(corruption: str | None, first: int, count: int = 64) -> Looks:
    """How embedded images look, corrupted or not."""
    picked = torch.randperm(3000, generator=torch.Generator().manual_seed(5))[first:][:count]
    images = load().images[picked.numpy()]
    pixels = torch.as_tensor(images) if corruption is None else Corruptor()(images, corruption, 5)
    return Looks.of(looks_of(pixels.permute(0, 3, 1, 2) / 255))


@pytest.mark.parametrize(
    "corruption", ["gaussian_noise", "fog", "contrast", "defocus_blur", "pixelate", "glass_blur"]
)
def test_another_corruption_is_far_and_another_batch_is_near(corruption: str) -> None:
    plain, other, corrupted = shown(None, 0), shown(None, 64), shown(corruption, 128)
    assert distance(plain, plain) == 0
    assert distance(plain, other) < 0.5
    assert distance(plain, corrupted) > 1


def test_roughness_spreads_within_a_batch_of_several_domains_alone() -> None:
    kinds = ["gaussian_noise", "fog", "contrast", "defocus_blur", "pixelate", "jpeg_compression"]
    each = [shown(kind, 0, 48) for kind in kinds]
    together = each[0]
    for looks in each[1:]:
        together = together.with_more(looks)
    assert max(looks.texture_spread for looks in each) < 0.18
    assert together.texture_spread > 0.24


def test_classes_look_more_alike_than_domains_by_texture() -> None:
    data = load()
    by_class = [data.images[np.flatnonzero(data.labels == label)[:64]] for label in range(10)]
    looks = [
        Looks.of(looks_of(torch.as_tensor(images).permute(0, 3, 1, 2) / 255)) for images in by_class
    ]
    apart = [distance(a, b) for n, a in enumerate(looks) for b in looks[:n]]
    noise = shown("gaussian_noise", 0)
    assert np.median(apart) < 0.5 * np.median([distance(each, noise) for each in looks])


def test_looks_of_two_groups_are_those_of_all_their_samples() -> None:
    looks = np.random.default_rng(0).random((30, NUM_LOOKS))
    both = Looks.none().with_more(Looks.of(looks[:12])).with_more(Looks.of(looks[12:]))
    np.testing.assert_allclose(both.mean, looks.mean(0))
    np.testing.assert_allclose(both.variance, looks.var(0))
    assert both.samples == 30


@pytest.mark.parametrize("shape", [(8, 6), (8, 1), (8, 2, 30), (8, 3, 2, 1), (2, 3, 4, 4, 4)])
def test_inputs_of_any_shape_have_looks(shape: tuple[int, ...]) -> None:
    looks = looks_of(torch.rand(shape))
    assert looks.shape == (shape[0], NUM_LOOKS)
    assert np.isfinite(looks).all()


def test_values_that_are_not_finite_or_constant_give_finite_looks() -> None:
    for value in (torch.inf, torch.nan, 0.0, 1e30):
        assert np.isfinite(looks_of(torch.full((8, 3, 4, 4), value))).all()


@pytest.mark.parametrize("factor", [1e20, 1e30, 3e38])
def test_huge_values_are_compared_without_overflow(factor: float) -> None:
    huge = Looks.of(looks_of(factor * torch.rand(16, 3, 8, 8)))
    both = huge.with_more(Looks.of(looks_of(torch.rand(16, 3, 8, 8))))
    assert np.isfinite([*both.mean, *both.variance, distance(huge, both)]).all()
