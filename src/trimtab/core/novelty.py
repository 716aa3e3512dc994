"""Domain change detection from inputs alone: whether samples look unlike those before them."""

import math
from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields, replace

import torch
from torch import Tensor

from trimtab.core.structured import Structured

PIECE = 32
"""Samples, at least, that are looked at as one."""
NEW = 4.0
"""Deviations from the pieces before, from which on one is new."""
USUAL_PIECES = 16
"""Pieces over which it is known what inputs look like."""
LEAST_DEVIATION = 0.04
"""Share by which a piece may be off, however alike the pieces before it were."""
LARGEST = 1e12
"""Of a fact about a sample: its square must be finite."""


@dataclass(frozen=True)
class Novelty:
    """What the inputs of a stream look like, in numbers from 0 on; never written into.

    Args:
        pieces: How many have looked alike so far; 1 where inputs are new.
        waiting: Samples of a piece that is not full yet.
        waiting_level, waiting_contrast, waiting_roughness: Sums over these.
        level, contrast, roughness: What a sample looks like, in the mean over recent pieces.
        level_variance, contrast_variance, roughness_variance: The same from piece to piece.
    """

    pieces: int = 0
    waiting: int = 0
    waiting_level: float = 0.0
    waiting_contrast: float = 0.0
    waiting_roughness: float = 0.0
    level: float = 0.0
    contrast: float = 0.0
    roughness: float = 0.0
    level_variance: float = 0.0
    contrast_variance: float = 0.0
    roughness_variance: float = 0.0

    def seeing(self, inputs: Tensor) -> tuple["Novelty", bool]:
        """Once these samples are looked at, and whether they begin something new."""
        _, waiting, *values = astuple(self)
        total = [old + new for old, new in zip(values[:3], _looks_of(inputs), strict=True)]
        waiting += len(inputs)
        if waiting < PIECE:
            return replace(self, waiting=waiting, **dict(zip(WAITING, total, strict=True))), False
        return self._after_piece([fact / waiting for fact in total], values[3:6], values[6:])

    def _after_piece(
        self, facts: list[float], means: list[float], variances: list[float]
    ) -> tuple["Novelty", bool]:
        known = list(zip(facts, means, variances, strict=True))
        if not self.pieces or max(_deviations(*each) for each in known) > NEW:
            return Novelty(1, 0, 0.0, 0.0, 0.0, *facts), True
        weight = 1 / min(self.pieces + 1, USUAL_PIECES)
        moved = [mean + weight * (fact - mean) for fact, mean, _ in known]
        spread = [(1 - weight) * (var + weight * (fact - mean) ** 2) for fact, mean, var in known]
        return Novelty(self.pieces + 1, 0, 0.0, 0.0, 0.0, *moved, *spread), False

    def state(self) -> dict[str, float]:
        """All of it, by names that begin with ``look_``."""
        return {f"look_{field.name}": getattr(self, field.name) for field in fields(self)}

    @classmethod
    def of(cls, state: Mapping[str, float]) -> "Novelty":
        """What ``state`` has written."""
        found = {field.name: state[f"look_{field.name}"] for field in fields(cls)}
        return cls(int(found.pop("pieces")), int(found.pop("waiting")), **found)


WAITING = ("waiting_level", "waiting_contrast", "waiting_roughness")


def _deviations(fact: float, mean: float, variance: float) -> float:
    return abs(fact - mean) / (math.sqrt(variance) + LEAST_DEVIATION * mean + 1e-6)


def _looks_of(inputs: Tensor) -> list[float]:
    """Sums over samples: mean size of a value, deviation, and step to the next value."""
    plain = inputs.tensors[0] if isinstance(inputs, Structured) else inputs
    values = plain.detach().float()
    steps = values.diff(dim=-1) if values.dim() > 1 and values.shape[-1] > 1 else values
    rows = values.reshape(len(values), -1)
    found = [
        rows.abs().mean(1),
        rows.std(1, correction=0),
        steps.reshape(len(rows), -1).abs().mean(1),
    ]
    each = torch.stack(found).nan_to_num(0.0).clamp(0.0, LARGEST)
    sums: list[float] = each.double().sum(1).tolist()
    return sums
