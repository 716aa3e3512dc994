"""Numbers that describe corrupted pictures: brightness, spread, distance and spectrum."""

import numpy as np
import numpy.typing as npt

DETERMINISTIC = (
    "defocus_blur",
    "zoom_blur",
    "brightness",
    "contrast",
    "pixelate",
    "jpeg_compression",
    "gaussian_blur",
    "saturate",
)
"""Corruptions that draw nothing."""

NAMES = ("mean", "sd", "distance", "low", "middle", "high")


def statistics(
    drawn: npt.NDArray[np.uint8], clean: npt.NDArray[np.uint8]
) -> npt.NDArray[np.float64]:
    """Mean over the draws and its standard error (2 x statistics)."""
    values = np.array([_of_one(picture.astype(float), clean) for picture in drawn])
    return np.stack([values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))])


def _of_one(picture: npt.NDArray[np.float64], clean: npt.NDArray[np.uint8]) -> list[float]:
    distance = np.sqrt(((picture - clean) ** 2).mean())
    return [picture.mean(), picture.std(), distance, *_spectrum(picture.mean(axis=2))]


def _spectrum(grey: npt.NDArray[np.float64]) -> list[float]:
    """Share of the power in waves longer than 12 pixels, longer than 4, and in the rest."""
    power = np.abs(np.fft.fft2(grey - grey.mean())) ** 2
    rows, columns = (np.fft.fftfreq(side) for side in grey.shape)
    frequency = np.hypot(rows[:, None], columns[None, :])
    low, middle = frequency < 1 / 12, frequency < 1 / 4
    shares = [power[low].sum(), power[middle & ~low].sum(), power[~middle].sum()]
    return [share / power.sum() for share in shares]
