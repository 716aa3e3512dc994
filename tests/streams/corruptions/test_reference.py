"""The corruptions against a recording of ``imagecorruptions-imaug`` 1.1.5 (224 px table)."""

from pathlib import Path

import numpy as np
import pytest

from streams.corruptions.statistics import NAMES, statistics
from trimtab.streams.corruptions import Corruptor
from trimtab.streams.corruptions.severity import settings

RECORDED = np.load(Path(__file__).with_name("reference.npz"), allow_pickle=False)
PICTURE = RECORDED["picture"]
CORRUPT = Corruptor(table="224")
DRAWS = 300
LEVELS = range(1, 6)


@pytest.mark.parametrize("name", ["contrast", "pixelate"])
def test_some_agree_in_every_pixel(name):
    for level in LEVELS:
        ours = CORRUPT(PICTURE[None], name, level)[0].numpy()
        np.testing.assert_array_equal(ours, RECORDED[name][level - 1])


@pytest.mark.parametrize(
    ("name", "share_that_differs"),
    [
        ("defocus_blur", 0.031),  # weights in whole 65,536ths; flat areas at severity 1
        ("gaussian_blur", 0.0025),  # a thousandth is added before truncation
        ("zoom_blur", 0.11),  # each zoom is rounded to bytes before the mean is taken
        ("jpeg_compression", 0.002),  # cosines are rounded one by one
    ],
)
def test_some_differ_by_one_step_in_a_few_pixels(name, share_that_differs):
    for level in LEVELS:
        ours = CORRUPT(PICTURE[None], name, level)[0].numpy().astype(int)
        difference = np.abs(ours - RECORDED[name][level - 1])
        assert difference.max() <= 1
        assert (difference > 0).mean() <= share_that_differs


@pytest.mark.parametrize("name", ["brightness", "saturate"])
def test_some_differ_only_where_the_reference_truncates_a_whole_number(name):
    """In exact arithmetic such a value is whole; the reference shows the number below."""
    for level in LEVELS:
        ours = CORRUPT(PICTURE[None], name, level)[0].numpy().astype(int)
        difference = ours - RECORDED[name][level - 1]
        exact = _exact(name, *settings(name, level, "224"))[difference != 0]
        assert set(np.unique(difference)) <= {0, 1}
        np.testing.assert_allclose(exact, np.rint(exact), atol=1e-9)


def _exact(name, factor, added=0.0):
    pixels = PICTURE.astype(np.float64)
    value, least = pixels.max(axis=2, keepdims=True), pixels.min(axis=2, keepdims=True)
    if name == "brightness":
        return pixels * np.minimum(value + 255 * factor, 255) / value
    saturation = np.clip((value - least) / value * factor + added, 0, 1)
    return value - (value - pixels) / (value - least) * value * saturation


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "gaussian_noise",
        "shot_noise",
        "impulse_noise",
        "speckle_noise",
        "glass_blur",
        "motion_blur",
        "fog",
    ],
)
def test_random_ones_agree_in_mean_spread_distance_and_spectrum(name):
    """Within five standard errors of both sides, and half a percent for rounding."""
    many = np.repeat(PICTURE[None], DRAWS, axis=0)
    for level in LEVELS:
        ours, our_error = statistics(CORRUPT(many, name, level).numpy(), PICTURE)
        theirs, their_error = RECORDED[name][level - 1]
        allowed = 5 * np.hypot(our_error, their_error) + 0.005 * np.abs(theirs)
        report = dict(zip(NAMES, zip(ours, theirs, allowed, strict=True), strict=True))
        assert (np.abs(ours - theirs) <= allowed).all(), (level, report)


@pytest.mark.slow
def test_snow_agrees_but_for_the_flakes_at_the_border():
    """The reference has more flakes at the left and right border: up to 1 % of the mean."""
    many = np.repeat(PICTURE[None], DRAWS, axis=0)
    for level in LEVELS:
        ours, our_error = statistics(CORRUPT(many, "snow", level).numpy(), PICTURE)
        theirs, their_error = RECORDED["snow"][level - 1]
        allowed = 5 * np.hypot(our_error, their_error) + 0.01 * np.abs(theirs)
        assert (np.abs(ours - theirs) <= allowed).all(), level
