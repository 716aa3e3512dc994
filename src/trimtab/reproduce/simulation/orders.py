"""Orders of classes along a simulated stream: i.i.d., and non-i.i.d. in several ways."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

import numpy as np
import numpy.typing as npt

Labels = npt.NDArray[np.int64]

SET_CLASSES, SET_SAMPLES = 5, 200
"""Classes of a set, and samples after which another set follows."""
LATE_RUN = 30
"""Samples of a run where correlation begins or ends halfway."""


class Order(Protocol):
    """A way in which classes follow each other."""

    def __call__(self, samples: int, classes: int, rng: np.random.Generator) -> Labels:
        """Classes of consecutive samples, (samples,)."""


def independent(samples: int, classes: int, rng: np.random.Generator) -> Labels:
    """Every sample is drawn for itself, and all classes are as frequent."""
    return rng.integers(0, classes, samples)


def runs(length: int) -> Order:
    """A class stays for ``length`` samples; runs do not begin where batches do."""

    def draw(samples: int, classes: int, rng: np.random.Generator) -> Labels:
        first = int(rng.integers(length))
        drawn = rng.integers(0, classes, (first + samples) // length + 1)
        return np.repeat(drawn, length)[first : first + samples]

    return draw


def one_class(samples: int, classes: int, rng: np.random.Generator) -> Labels:
    """The same class for ever."""
    return np.full(samples, rng.integers(0, classes))


def class_sets(run: int) -> Order:
    """Five classes alternate in runs of ``run`` samples for 200 samples, then five others."""

    def draw(samples: int, classes: int, rng: np.random.Generator) -> Labels:
        stretches = []
        for _ in range(samples // SET_SAMPLES + 1):
            chosen = rng.choice(classes, min(SET_CLASSES, classes), replace=False)
            drawn = rng.choice(chosen, SET_SAMPLES // run + 1)
            stretches.append(np.repeat(drawn, run)[:SET_SAMPLES])
        return np.concatenate(stretches)[:samples].astype(np.int64)

    return draw


def halves(first: Order, second: Order) -> Order:
    """One order for the first half of the stream, another one for the rest."""

    def draw(samples: int, classes: int, rng: np.random.Generator) -> Labels:
        half = samples // 2
        return np.concatenate([first(half, classes, rng), second(samples - half, classes, rng)])

    return draw


INDEPENDENT = "independent"
RUNS: Mapping[str, int] = MappingProxyType({f"runs of {n}": n for n in (3, 10, 30, 300)})
ONE_CLASS = "one class"
SETS = ("sets of 5", "sets in runs of 4")
BEGINS, ENDS = "begins halfway", "ends halfway"

ORDERS: Mapping[str, Order] = MappingProxyType(
    {
        INDEPENDENT: independent,
        **{name: runs(length) for name, length in RUNS.items()},
        ONE_CLASS: one_class,
        SETS[0]: class_sets(1),
        SETS[1]: class_sets(4),
        BEGINS: halves(independent, runs(LATE_RUN)),
        ENDS: halves(runs(LATE_RUN), independent),
    }
)
"""By name, as tables write them."""
