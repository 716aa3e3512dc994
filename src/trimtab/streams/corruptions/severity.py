"""How strong each corruption is at severities 1 to 5 (Hendrycks & Dietterich, ICLR 2019)."""

from collections.abc import Mapping

from trimtab.core.ranges import check_severity
from trimtab.core.spec import choice

TABLES = ("32", "224")
"""The two published tables: CIFAR-10-C and CIFAR-100-C (32 px), ImageNet-C (224 px)."""

_SIDE_BETWEEN_TABLES = 85  # the geometric mean of 32 and 224: the nearer table on a log scale

Settings = tuple[float, ...]
Levels = tuple[Settings, Settings, Settings, Settings, Settings]


def _single(*values: float) -> Levels:
    first, second, third, fourth, fifth = ((value,) for value in values)
    return first, second, third, fourth, fifth


LEVELS: Mapping[str, tuple[Levels, Levels]] = {
    # sigma, as a share of full brightness
    "gaussian_noise": (
        _single(0.04, 0.06, 0.08, 0.09, 0.10),
        _single(0.08, 0.12, 0.18, 0.26, 0.38),
    ),
    # photons at full brightness
    "shot_noise": (_single(500, 250, 100, 75, 50), _single(60, 25, 12, 5, 3)),
    # share of values that turn to salt or pepper
    "impulse_noise": (_single(0.01, 0.02, 0.03, 0.05, 0.07), _single(0.03, 0.06, 0.09, 0.17, 0.27)),
    # disk radius and sigma of its soft edge, in pixels
    "defocus_blur": (
        ((0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (1, 0.2), (1.5, 0.1)),
        ((3, 0.1), (4, 0.5), (6, 0.5), (8, 0.5), (10, 0.5)),
    ),
    # sigma, largest shift (both in pixels), passes
    "glass_blur": (
        ((0.05, 1, 1), (0.25, 1, 1), (0.4, 1, 1), (0.25, 1, 2), (0.4, 1, 2)),
        ((0.7, 1, 2), (0.9, 2, 1), (1, 2, 3), (1.1, 3, 2), (1.5, 4, 2)),
    ),
    # radius and sigma of the line, in pixels
    "motion_blur": (
        ((6, 1), (6, 1.5), (6, 2), (8, 2), (9, 2.5)),
        ((10, 3), (15, 5), (15, 8), (15, 12), (20, 15)),
    ),
    # zoom factors from 1: stop (exclusive), step
    "zoom_blur": (
        ((1.06, 0.01), (1.11, 0.01), (1.16, 0.01), (1.21, 0.01), (1.26, 0.01)),
        ((1.11, 0.01), (1.16, 0.01), (1.21, 0.02), (1.26, 0.02), (1.31, 0.03)),
    ),
    # mean and sd of the flakes, their zoom, threshold, line radius, line sigma, image share
    "snow": (
        (
            (0.1, 0.2, 1, 0.6, 8, 3, 0.95),
            (0.1, 0.2, 1, 0.5, 10, 4, 0.9),
            (0.15, 0.3, 1.75, 0.55, 10, 4, 0.9),
            (0.25, 0.3, 2.25, 0.6, 12, 6, 0.85),
            (0.3, 0.3, 1.25, 0.65, 14, 12, 0.8),
        ),
        (
            (0.1, 0.3, 3, 0.5, 10, 4, 0.8),
            (0.2, 0.3, 2, 0.5, 12, 4, 0.7),
            (0.55, 0.3, 4, 0.9, 12, 8, 0.7),
            (0.55, 0.3, 4.5, 0.85, 12, 8, 0.65),
            (0.55, 0.3, 2.5, 0.85, 12, 12, 0.55),
        ),
    ),
    # image share, frost share
    "frost": (
        ((1, 0.2), (1, 0.3), (0.9, 0.4), (0.85, 0.4), (0.75, 0.45)),
        ((1, 0.4), (0.8, 0.6), (0.7, 0.7), (0.65, 0.7), (0.6, 0.75)),
    ),
    # strength, decay of the noise from one scale to the next
    "fog": (
        ((0.2, 3), (0.5, 3), (0.75, 2.5), (1, 2), (1.5, 1.75)),
        ((1.5, 2), (2, 2), (2.5, 1.7), (2.5, 1.5), (3, 1.4)),
    ),
    # added to the HSV value
    "brightness": (_single(0.05, 0.1, 0.15, 0.2, 0.3), _single(0.1, 0.2, 0.3, 0.4, 0.5)),
    # share kept around each channel's mean
    "contrast": (_single(0.75, 0.5, 0.4, 0.3, 0.15), _single(0.4, 0.3, 0.2, 0.1, 0.05)),
    # displacement, its smoothness, affine shift; all times the unit below
    "elastic_transform": (
        ((0, 0, 0.08), (0.05, 0.2, 0.07), (0.08, 0.06, 0.06), (0.1, 0.04, 0.05), (0.1, 0.03, 0.03)),
        ((2, 0.7, 0.1), (2, 0.08, 0.2), (0.05, 0.01, 0.02), (0.07, 0.01, 0.02), (0.12, 0.01, 0.02)),
    ),
    # share of the side that is left
    "pixelate": (_single(0.95, 0.9, 0.85, 0.75, 0.65), _single(0.6, 0.5, 0.4, 0.3, 0.25)),
    # quality
    "jpeg_compression": (_single(80, 65, 58, 50, 40), _single(25, 18, 15, 10, 7)),
    # sigma, as a share of the pixel
    "speckle_noise": (_single(0.06, 0.1, 0.12, 0.16, 0.2), _single(0.15, 0.2, 0.35, 0.45, 0.6)),
    # sigma in pixels
    "gaussian_blur": (_single(0.4, 0.6, 0.7, 0.8, 1), _single(1, 2, 3, 4, 6)),
    # mean, sd and blur sigma of the liquid, threshold, strength, mud (1) or water (0)
    "spatter": (
        (
            (0.62, 0.1, 0.7, 0.7, 0.5, 0),
            (0.65, 0.1, 0.8, 0.7, 0.5, 0),
            (0.65, 0.3, 1, 0.69, 0.5, 0),
            (0.65, 0.1, 0.7, 0.69, 0.6, 1),
            (0.65, 0.1, 0.5, 0.68, 0.6, 1),
        ),
        (
            (0.65, 0.3, 4, 0.69, 0.6, 0),
            (0.65, 0.3, 3, 0.68, 0.6, 0),
            (0.65, 0.3, 2, 0.68, 0.5, 0),
            (0.65, 0.3, 1, 0.65, 1.5, 1),
            (0.67, 0.4, 1, 0.65, 1.5, 1),
        ),
    ),
    # HSV saturation: factor, added
    "saturate": (
        ((0.3, 0), (0.1, 0), (1.5, 0), (2, 0.1), (2.5, 0.2)),
        ((0.3, 0), (0.1, 0), (2, 0), (5, 0.1), (20, 0.2)),
    ),
}
"""By corruption: the levels of the 32 px table and those of the 224 px table."""

_ELASTIC_UNIT = {"32": 32, "224": 244}  # pixels; the published 224 px table counts in 244ths


def settings(corruption: str, severity: int, table: str) -> Settings:
    """The parameters of one corruption at one severity."""
    check_severity(severity)
    levels = LEVELS[choice("corruption", corruption, LEVELS)]
    values = levels[TABLES.index(choice("severity table", table, TABLES))][severity - 1]
    if corruption == "elastic_transform":
        return tuple(value * _ELASTIC_UNIT[table] for value in values)
    return values


def table_for(height: int, width: int) -> str:
    """The published table whose images are nearer in size."""
    return "32" if max(height, width) < _SIDE_BETWEEN_TABLES else "224"
