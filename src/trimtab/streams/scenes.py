"""Semantic segmentation scenes: Fashion-MNIST pieces on textured ground, with a class per pixel.

A scene has four cells of 28 px. Most of them hold a piece of clothing at its own size, in a colour
of its own and moved by a few pixels, so that pieces overlap at their edges. A pixel belongs to the
topmost piece that covers it, or to the ground. Everything is drawn from a scene's own seed.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save

from trimtab.core.files import write_whole
from trimtab.streams import embedded
from trimtab.streams.cifar10 import cache_directory
from trimtab.streams.data import LabelledImages

Pixels = npt.NDArray[np.uint8]

SIDE, CELL, REACH = 56, 28, 4
"""Of a scene, of a cell, and how far a piece moves either way, in pixels."""
CELLS = tuple((row, column) for row in (0, CELL) for column in (0, CELL))
EMPTY = 0.25
"""Share of the cells that stay empty."""
COVERS = 16
"""Grey value from which on a pixel of a piece covers what is below it."""
DARKEST = 0.15
"""Brightness of a covering pixel that is black in the piece, as a share of the piece's colour."""
GRIDS = {3: 1.0, 7: 0.7, 14: 0.5, 28: 0.4}
"""The ground's texture: points along a side, and how strong the clouds between them are."""
GRAIN = 6.0
"""Standard deviation of the ground's noise, in grey values."""

TRAINING_SCENES = 4_500
"""Scenes to train on, of 18,000 training images."""

GROUND = "ground"
CLASSES = (GROUND, *embedded.CLASSES)


def load(part: str = "test") -> LabelledImages:
    """750 scenes of Fashion-MNIST's test images that come with the package, each image in one.

    Part ``"source"`` are 250 scenes of other images, for methods that ask for source data.
    """
    pieces = embedded.load(part)
    grey = np.asarray(pieces.images[:, 2:-2, 2:-2, 0])
    images, masks = compose(grey, pieces.labels, seed=0 if part == "test" else 1)
    return LabelledImages(images, main_classes(masks), "fashion_scenes", CLASSES, masks=masks)


def prepare(directory: Path, advance: Callable[[str], None] = lambda _what: None) -> Path:
    """Write 4,500 scenes to train on and 2,500 to test on into the cache; the file.

    Args:
        directory: Where the four official files of Fashion-MNIST are.
    """
    advance("reading")
    official = embedded.read_official(directory)
    arrays: dict[str, Pixels] = {}
    for seed, part in enumerate(("test", "train"), start=2):
        advance(f"composing scenes to {part} on")
        grey, labels = official[f"{part}_images"], official[f"{part}_labels"]
        images, masks = compose(grey, labels, seed=seed, most=TRAINING_SCENES)
        arrays |= {f"{part}_images": images, f"{part}_labels": masks}
    target = cache_directory() / "fashion_scenes.safetensors"
    target.parent.mkdir(parents=True, exist_ok=True)
    advance("writing")
    write_whole(target, save(arrays))
    return target


def compose(
    grey: Pixels, labels: npt.NDArray[np.integer], *, seed: int, most: int | None = None
) -> tuple[Pixels, Pixels]:
    """Scenes (count, 56, 56, 3) and the class of each of their pixels (count, 56, 56).

    Args:
        grey: Pieces, (count, 28, 28), each for one scene.
        most: Scenes to make, where there are pieces for more.
    """
    order = np.random.default_rng(seed).permutation(len(grey))
    four_each = order[: len(order) // 4 * 4].reshape(-1, 4)[:most]
    scenes = [
        _scene(grey[chosen], labels[chosen], np.random.default_rng([seed, number]))
        for number, chosen in enumerate(four_each)
    ]
    images, masks = zip(*scenes, strict=True)
    return np.stack(images), np.stack(masks)


def main_classes(masks: Pixels) -> npt.NDArray[np.int64]:
    """The class of most pixels of each scene that are not ground; streams are ordered by it."""
    counts = [np.bincount(mask.ravel(), minlength=len(CLASSES))[1:] for mask in masks]
    return np.asarray(np.stack(counts).argmax(1) + 1, dtype=np.int64)


def _scene(
    grey: Pixels, labels: npt.NDArray[np.integer], draws: np.random.Generator
) -> tuple[Pixels, Pixels]:
    image, mask = _ground(draws), np.zeros((SIDE, SIDE), dtype=np.uint8)
    present = draws.random(len(CELLS)) >= EMPTY
    present[draws.integers(len(CELLS))] = True
    for cell in draws.permutation(len(CELLS)):
        color, moved = draws.uniform(70, 255, 3), draws.integers(-REACH, REACH + 1, 2)
        if present[cell]:
            top, left = np.clip(np.array(CELLS[cell]) + moved, 0, SIDE - CELL)
            place = slice(top, top + CELL), slice(left, left + CELL)
            piece = grey[cell]
            covers = piece >= COVERS
            shade = DARKEST + (1 - DARKEST) * piece[covers] / 255
            image[place][covers] = shade[:, None] * color
            mask[place][covers] = labels[cell] + 1
    return image.clip(0, 255).round().astype(np.uint8), mask


def _ground(draws: np.random.Generator) -> npt.NDArray[np.float64]:
    """Clouds of two colours with a fine grain, (56, 56, 3)."""
    clouds = np.zeros((SIDE, SIDE))
    for points, strength in GRIDS.items():
        between = _between(points)
        clouds += strength * (between @ draws.random((points, points)) @ between.T)
    clouds = (clouds - clouds.min()) / (clouds.max() - clouds.min())
    first, second = draws.uniform(10, 245, (2, 3))
    grain = draws.normal(0, GRAIN, (SIDE, SIDE, 1))
    mixed: npt.NDArray[np.float64] = first + (second - first) * clouds[..., None] + grain
    return mixed


@cache
def _between(points: int) -> npt.NDArray[np.float64]:
    """Linear interpolation from ``points`` points to a side's pixels, as a matrix."""
    places = np.linspace(0, points - 1, SIDE)
    return np.asarray(np.clip(1 - np.abs(places[:, None] - np.arange(points)), 0, None))
