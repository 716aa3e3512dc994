"""Local priors: what neighbours say, weighted by their distance in time."""

import numpy as np
import pytest

from trimtab.components.temporal_prior import class_sets


def test_likelihoods_are_those_of_the_mean_of_earlier_classes() -> None:
    random = np.random.default_rng(0)
    evidence, fresh = random.random((6, 4)) + 0.1, random.dirichlet(np.ones(4), 6)
    before = random.dirichlet(np.ones(4), 1)
    totals, after = class_sets.predictive(evidence, fresh, np.array([8.0]), before)
    local = before[0]
    for step in range(6):
        prior = class_sets.LOCAL_SHARE * local + (1 - class_sets.LOCAL_SHARE) * fresh[step]
        assert totals[step, 0] == pytest.approx(prior @ evidence[step])
        local = 7 / 8 * local + prior * evidence[step] / totals[step, 0] / 8
    np.testing.assert_allclose(after[0], local)


def test_a_sample_is_corrected_by_its_neighbours_and_not_by_itself() -> None:
    random = np.random.default_rng(1)
    probs, evidence = random.dirichlet(np.ones(3), 5), random.random((5, 3)) + 0.1
    fresh, before = np.full((5, 3), 1 / 3), random.dirichlet(np.ones(3))
    horizon, decay = 4.0, 3 / 4
    expected = probs.copy()
    for _ in range(class_sets.ROUNDS):
        found = np.empty_like(expected)
        for t in range(5):
            weights = [0 if s == t else decay ** (abs(s - t) - 1) for s in range(5)]
            past = horizon * decay**t
            local = (weights @ expected + past * before) / (sum(weights) + past)
            joint = class_sets.LOCAL_SHARE * local + (1 - class_sets.LOCAL_SHARE) * fresh[t]
            found[t] = joint * evidence[t] / (joint @ evidence[t])
        expected = found
    found = class_sets.corrected(probs, evidence, fresh, horizon, before)
    np.testing.assert_allclose(found, expected)
