import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.streams.order import order

label_lists = st.lists(st.integers(0, 6), min_size=1, max_size=200).map(np.array)


@given(label_lists, st.sampled_from([None, 0, 0.01, 0.5, 100.0]), st.integers(0, 5))
def test_every_image_appears_exactly_once(labels, delta, seed):
    assert sorted(order(labels, delta, seed, "test")) == list(range(len(labels)))


@given(label_lists, st.sampled_from([None, 0, 0.1]))
def test_the_seed_decides(labels, delta):
    np.testing.assert_array_equal(order(labels, delta, 1, "test"), order(labels, delta, 1, "test"))


@given(label_lists)
def test_delta_zero_shows_class_after_class(labels):
    shown = labels[order(labels, 0, 0, "test")]
    assert (np.diff(shown) >= 0).all()


def test_within_a_class_the_order_is_random():
    labels = np.zeros(50, dtype=np.int64)
    assert not np.array_equal(order(labels, 0, 0, "test"), np.arange(50))


def test_a_larger_delta_mixes_classes_more():
    labels = np.repeat(np.arange(10), 200)
    purity = [
        _purity(labels[order(labels, delta, 0, "test")]) for delta in (0.01, 0.1, 1, 10, 1000)
    ]
    assert purity == sorted(purity, reverse=True)
    assert purity[0] > 0.8
    assert purity[-1] < 0.7
    assert _purity(labels[order(labels, None, 0, "test")]) < 0.2


def test_a_small_delta_keeps_most_of_a_class_together_and_a_large_one_spreads_it():
    labels = np.repeat(np.arange(10), 200)
    spread = {
        delta: np.mean([_stretches(labels[order(labels, delta, 0, "test")], c) for c in range(10)])
        for delta in (0.01, 100.0)
    }
    assert spread[0.01] < 3
    assert spread[100.0] > 7


def _purity(labels, batch=50):
    """Mean share of the commonest class in a batch."""
    batches = labels.reshape(-1, batch)
    return float(np.mean([np.bincount(row).max() / batch for row in batches]))


def _stretches(labels, label):
    is_it = np.concatenate([[False], labels == label])
    return int((is_it[1:] & ~is_it[:-1]).sum())


@pytest.mark.slow
def test_many_classes_with_few_images_still_come_out_whole():
    labels = np.repeat(np.arange(1000), 2)
    assert sorted(order(labels, 0.01, 0, "test")) == list(range(2000))


@pytest.mark.parametrize("delta", [1e-4, 1e4])
def test_extreme_concentrations_work(delta):
    labels = np.repeat(np.arange(5), 20)
    assert sorted(order(labels, delta, 0, "test")) == list(range(100))
