"""Weights of samples in a mean that is balanced over classes."""

import numpy as np

from trimtab.components.temporal_prior.balance import EARLY, FREE_SAMPLES, weights


def test_classes_that_came_equally_often_count_alike() -> None:
    np.testing.assert_allclose(weights(np.array([500.0, 500.0, 500.0])), EARLY**2)


def test_a_class_that_came_more_often_than_the_others_counts_for_less() -> None:
    found = weights(np.array([1000.0, 500.0, 100.0]))
    np.testing.assert_allclose(found[0], (EARLY * (500**2 + 100**2) / 600 / 1000) ** 2)
    assert found[0] < found[1] < found[2] == 1


def test_classes_that_never_came_do_not_matter() -> None:
    few = np.array([1000.0, 500.0, 500.0])
    many = np.concatenate([few, np.zeros(997)])
    np.testing.assert_allclose(weights(many)[:3], weights(few))


def test_a_first_class_counts_in_full_for_a_while_and_never_not_at_all() -> None:
    np.testing.assert_array_equal(weights(np.array([FREE_SAMPLES, 0.0])), 1)
    assert 0 < weights(np.array([4000.0, 0.0]))[0] < 0.01
