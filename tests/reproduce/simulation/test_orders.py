"""Orders of classes along simulated streams."""

import itertools

import numpy as np
import pytest

from trimtab.reproduce.simulation.orders import ORDERS, RUNS, Labels

SAMPLES, CLASSES = 1500, 1000


def drawn(order: str, seed: int = 1, samples: int = SAMPLES, classes: int = CLASSES) -> Labels:
    return ORDERS[order](samples, classes, np.random.default_rng(seed))


def run_lengths(labels: Labels) -> list[int]:
    return [len(list(run)) for _, run in itertools.groupby(labels)]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("samples", "classes"), [(1, 2), (6, 2), (1500, 10), (401, 1000)])
def test_an_order_has_its_samples_and_classes(order: str, samples: int, classes: int) -> None:
    labels = drawn(order, samples=samples, classes=classes)
    assert labels.shape == (samples,)
    assert labels.dtype == np.int64
    assert labels.min() >= 0
    assert labels.max() < classes


@pytest.mark.parametrize("order", ORDERS)
def test_an_order_is_decided_by_its_seed(order: str) -> None:
    assert np.array_equal(drawn(order), drawn(order))
    assert not np.array_equal(drawn(order), drawn(order, seed=2))


@pytest.mark.parametrize(("order", "length"), RUNS.items())
def test_runs_have_their_length_and_do_not_begin_with_batches(order: str, length: int) -> None:
    _, *whole, _ = run_lengths(drawn(order, seed=3))
    assert set(whole) <= {length, 2 * length}, "two neighbouring runs may be of one class"
    assert {run_lengths(drawn(order, seed))[0] for seed in range(8)} - {length}


def test_independent_classes_are_all_as_frequent() -> None:
    counts = np.bincount(drawn("independent", samples=20_000, classes=10), minlength=10)
    assert abs(counts - 2000).max() < 200


@pytest.mark.parametrize(("order", "run"), [("sets of 5", 1), ("sets in runs of 4", 4)])
def test_five_classes_alternate_for_200_samples_and_then_others(order: str, run: int) -> None:
    labels = drawn(order)
    sets = [set(labels[first : first + 200]) for first in range(0, SAMPLES, 200)]
    assert all(2 <= len(found) <= 5 for found in sets)
    assert len(set().union(*sets)) > 20
    assert all(length % run == 0 for length in run_lengths(labels[:200]))


def test_correlation_begins_or_ends_halfway() -> None:
    half = SAMPLES // 2
    begins, ends = drawn("begins halfway"), drawn("ends halfway")
    for mixed, ordered in ((begins[:half], begins[half:]), (ends[half:], ends[:half])):
        assert np.mean(mixed[1:] == mixed[:-1]) < 0.02
        assert np.mean(ordered[1:] == ordered[:-1]) > 0.95


def test_one_class_is_one() -> None:
    assert len(set(drawn("one class"))) == 1
