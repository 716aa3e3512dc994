"""The corruptions against a recording of ``imagecorruptions-imaug`` 1.1.5 (224 px table)."""

from pathlib import Path

import numpy as np
import pytest

from streams.corruptions.statistics import NAMES, statistics
from trimtab.streams.corruptions import Corruptor

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
        ("brightness", 0.15),  # whole numbers: the reference truncates 199.9999999 to 199
        ("defocus_blur", 0.09),  # the same in flat areas
        ("gaussian_blur", 0.03),  # the same
        ("saturate", 0.15),  # the same
        ("zoom_blur", 0.12),  # each zoom is rounded to bytes before the mean is taken
    ],
)
def test_some_differ_by_one_step_in_a_few_pixels(name, share_that_differs):
    for level in LEVELS:
        ours = CORRUPT(PICTURE[None], name, level)[0].numpy().astype(int)
        difference = np.abs(ours - RECORDED[name][level - 1])
        assert difference.max() <= 1
        assert (difference > 0).mean() <= share_that_differs


def test_jpeg_differs_only_where_a_coefficient_is_rounded_the_other_way():
    for level in LEVELS:
        ours = CORRUPT(PICTURE[None], "jpeg_compression", level)[0].numpy().astype(int)
        difference = np.abs(ours - RECORDED["jpeg_compression"][level - 1])
        assert (difference > 1).mean() < 0.02
        assert difference.mean() < 0.1


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


def test_snow_agrees_but_for_the_flakes_at_the_border():
    """The reference has more flakes at the left and right border: up to 1 % of the mean."""
    many = np.repeat(PICTURE[None], DRAWS, axis=0)
    for level in LEVELS:
        ours, our_error = statistics(CORRUPT(many, "snow", level).numpy(), PICTURE)
        theirs, their_error = RECORDED["snow"][level - 1]
        allowed = 5 * np.hypot(our_error, their_error) + 0.01 * np.abs(theirs)
        assert (np.abs(ours - theirs) <= allowed).all(), level
