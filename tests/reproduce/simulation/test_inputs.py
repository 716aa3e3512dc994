"""Synthetic inputs: domains look different, and begin within batches."""

import itertools

import numpy as np
import pytest

from trimtab.core.looks import Looks, distance, looks_of
from trimtab.reproduce.simulation.inputs import SHAPE, domains_along, inputs_of


def looks(domain: int, labels: np.ndarray, seed: int = 0) -> Looks:
    rng = np.random.default_rng(seed)
    inputs = inputs_of(labels, np.full(len(labels), domain), 10, rng)
    return Looks.of(looks_of(inputs))


@pytest.mark.parametrize("batch_size", [1, 16, 50, 64, 100])
def test_five_domains_follow_each_other_and_none_begins_with_a_batch(batch_size: int) -> None:
    domains = domains_along(1500, batch_size)
    borders = np.flatnonzero(np.diff(domains)) + 1
    assert domains[0] == 0
    assert list(domains[borders]) == [1, 2, 3, 4]
    assert np.bincount(domains).min() >= 250
    assert batch_size == 1 or all(borders % batch_size)


def test_neighbouring_domains_look_different_and_classes_do_not() -> None:
    mixed = np.random.default_rng(1).integers(0, 10, 256)
    for before, after in itertools.pairwise(range(5)):
        assert distance(looks(before, mixed), looks(after, mixed, seed=1)) > 1
    for domain in range(5):
        alone = looks(domain, np.full(256, 3))
        assert distance(looks(domain, mixed), alone) < 0.9


def test_inputs_are_images_decided_by_their_seed() -> None:
    labels = np.arange(6)
    one, same, other = (
        inputs_of(labels, np.zeros_like(labels), 10, np.random.default_rng(seed))
        for seed in (1, 1, 2)
    )
    assert one.shape == (6, *SHAPE)
    assert one.equal(same)
    assert not one.equal(other)
