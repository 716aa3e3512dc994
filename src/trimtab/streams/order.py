"""Class orders: i.i.d., sorted, or non-i.i.d. by a Dirichlet distribution."""

import numpy as np

from trimtab.streams.data import Indices
from trimtab.streams.draws import generator


def order(labels: Indices, delta: float | None, seed: int, purpose: str) -> Indices:
    """Numbers of all images, each once: shuffled (no ``delta``), by class (0), or in between."""
    random = generator(seed, purpose)
    shuffled = random.permutation(len(labels))
    if delta is None:
        return shuffled
    if delta == 0:
        return by_class(labels, shuffled)
    return by_dirichlet(labels, delta, shuffled, random)


def by_class(labels: Indices, shuffled: Indices) -> Indices:
    """Class after class; within a class as they come in ``shuffled``."""
    return shuffled[np.argsort(labels[shuffled], kind="stable")]


def by_dirichlet(
    labels: Indices, delta: float, shuffled: Indices, random: np.random.Generator
) -> Indices:
    """As many stretches as classes, over which a Dirichlet draw spreads each class.

    A small ``delta`` puts nearly all of a class into one stretch, a large one spreads it evenly.
    A stretch that holds its fair share of all images takes no further class. Within a stretch
    classes come one after the other, in an order of its own.
    """
    classes = np.unique(labels)
    stretches: list[list[Indices]] = [[] for _ in classes]
    sizes = np.zeros(len(classes), dtype=np.int64)
    for label in classes:
        members = shuffled[labels[shuffled] == label]
        shares = _open_shares(random, delta, sizes < len(labels) / len(classes))
        cuts = np.floor(np.cumsum(shares)[:-1] * len(members) + 1e-9).astype(np.int64)
        for place, part in enumerate(np.split(members, cuts)):
            stretches[place].append(part)
            sizes[place] += len(part)
    parts = [stretch[place] for stretch in stretches for place in random.permutation(len(stretch))]
    return np.concatenate(parts) if parts else shuffled


def _open_shares(
    random: np.random.Generator, delta: float, is_open: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Shares that sum to 1 over the stretches that are still open."""
    shares = random.dirichlet(np.full(len(is_open), delta)) * is_open
    if not shares.sum() > 0:
        shares = is_open.astype(np.float64)
    return np.asarray(shares / shares.sum())
