"""Calibrated difficulty (CCC, arXiv:2306.05401): the source's accuracy under pairs of corruptions.

Measured once for a source model and kept in a JSON file, so that a walk along equal accuracy is the
same stream for every method.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from trimtab.core.files import write_whole
from trimtab.streams.domains import Corrupted
from trimtab.streams.order import order

LEVELS = 6
"""Severities of each corruption: none, and 1 to 5."""

Grid = npt.NDArray[np.float64]
"""Accuracy by the severity of the first and of the second corruption, (LEVELS, LEVELS)."""

Pair = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Calibration:
    """How often a source model is right under pairs of corruptions, the second above the first.

    Args:
        model: Which model was measured, in words.
        images: Images that each number was measured on.
        classes: Of the model; chance is one of them.
        grids: By pair, accuracies.
    """

    model: str
    images: int
    classes: int
    grids: Mapping[Pair, Grid]

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs that were measured, in their order."""
        return tuple(self.grids)

    def target(self, share: float) -> float:
        """The accuracy this share of the way from chance to that on clean images."""
        clean = float(np.mean([grid[0, 0] for grid in self.grids.values()]))
        chance = 1 / self.classes
        return chance + share * (clean - chance)

    def severities(self, pair: Pair, target: float, steps: int) -> npt.NDArray[np.float64]:
        """A walk from the first corruption to the second at this accuracy, (steps, 2).

        Severities between two levels mean either level, by chance; the accuracy between is then
        the bilinear one. Where a pair cannot be as hard, it is as hard as it can be.
        """
        grid = self.grids[pair]
        angles = (np.arange(steps) + 0.5) / steps * np.pi / 2
        return np.array([_on_ray(grid, target, angle) for angle in angles])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file, whole or not at all."""
        grids = {"+".join(pair): grid.round(4).tolist() for pair, grid in self.grids.items()}
        record = {"model": self.model, "images": self.images, "classes": self.classes}
        write_whole(Path(path), (json.dumps(record | {"grids": grids}) + "\n").encode())


def load(name: str | os.PathLike[str]) -> Calibration:
    """The calibration of a shipped model, by its name, or one that ``save`` has written."""
    shipped = resources.files("trimtab.streams") / "calibrations" / f"{name}.json"
    path = Path(str(shipped)) if shipped.is_file() else Path(name)
    if not path.is_file():
        folder = Path(str(resources.files("trimtab.streams") / "calibrations"))
        known = ", ".join(sorted(file.stem for file in folder.glob("*.json")))
        raise ValueError(
            f"calibration must be the path of a file, or one of {known}; got {str(name)!r}; "
            "measure your model's with trimtab.streams.calibration.measure"
        )
    record = json.loads(path.read_text())
    grids = {_pair(text): np.array(grid, dtype=float) for text, grid in record["grids"].items()}
    return Calibration(record["model"], record["images"], record["classes"], grids)


def _pair(text: str) -> Pair:
    first, second = text.split("+")
    return first, second


def neighbours(names: Sequence[str]) -> list[Pair]:
    """Each domain with the next one, the last with the first."""
    return list(zip(names, (*names[1:], *names[:1]), strict=True))


def measure(
    models: Mapping[str, Callable[[Tensor], Tensor]],
    domains: Corrupted,
    pairs: Sequence[Pair] = (),
    *,
    images: int = 100,
    seed: int = 0,
    told: Callable[[Pair], object] = lambda pair: None,
) -> dict[str, Calibration]:
    """Accuracy of source models under all severities of pairs of corruptions.

    Args:
        models: By name, each maps images in [0, 1], (batch, 3, height, width), to logits.
        pairs: By default each domain with the next one.
        images: Of each pair and severities, the same ones everywhere.
        told: Hears of each pair before it is measured.
    """
    labels = domains.clean.labels
    chosen = order(labels, None, seed, "calibration")[:images]
    right = torch.from_numpy(labels[chosen])
    grids: dict[str, dict[Pair, Grid]] = {name: {} for name in models}
    classes: dict[str, int] = {}
    for pair in pairs or neighbours(domains.names):
        told(pair)
        for name in models:
            grids[name][pair] = np.zeros((LEVELS, LEVELS))
        for first in range(LEVELS):
            under = domains.pixels(pair[0], first, chosen, seed)
            for second in range(LEVELS):
                pixels = domains.corrupt(under, pair[1], second, chosen, seed)
                batch = pixels.permute(0, 3, 1, 2).to(torch.float32).div(255).contiguous()
                for name, predict in models.items():
                    logits = predict(batch)
                    classes[name] = logits.shape[1]
                    hits = (logits.argmax(1).cpu() == right).float().mean()
                    grids[name][pair][first, second] = float(hits)
    return {name: Calibration(name, len(chosen), classes[name], grids[name]) for name in models}


def _on_ray(grid: Grid, target: float, angle: float) -> tuple[float, float]:
    """The nearest place to no corruption at all, in this direction, where accuracy is the target's.

    Of what was measured, accuracy is taken not to rise with the distance.
    """
    direction = np.array([np.cos(angle), np.sin(angle)])
    longest = (LEVELS - 1) / direction.max()
    distances = np.linspace(0, longest, 41)
    accuracies = [_between(grid, *(r * direction)) for r in distances]
    found = np.minimum.accumulate(accuracies)
    if found[-1] >= target:
        first, second = distances[int(np.argmin(accuracies))] * direction  # as hard as it can be
    else:
        first, second = np.interp(-target, -found, distances) * direction
    return float(first), float(second)


def _between(grid: Grid, first: float, second: float) -> float:
    """Bilinear interpolation: what independent roundings to either level give on average."""
    i, j = (min(int(value), LEVELS - 2) for value in (first, second))
    u, v = first - i, second - j
    corners = grid[i : i + 2, j : j + 2]
    return float(np.array([1 - u, u]) @ corners @ np.array([1 - v, v]))
