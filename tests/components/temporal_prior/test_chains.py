"""Filtering and smoothing along chains equals adding up all ways through them."""

from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

from trimtab.components.temporal_prior.chains import filtered, smoothed

CLASSES = 3
STAY = np.array([0.3, 0.9])
Numbers = npt.NDArray[np.float64]


def example(steps: int) -> tuple[Numbers, Numbers, Numbers]:
    """Evidence (steps, classes), fresh classes (steps, classes), what was before (2, classes)."""
    random = np.random.default_rng(steps)
    evidence = random.random((steps, CLASSES)) + 0.01
    fresh = random.dirichlet(np.ones(CLASSES), steps)
    return evidence, fresh, random.dirichlet(np.ones(CLASSES), 2)


def over_all_ways(
    evidence: Numbers, fresh: Numbers, stay: float, before: Numbers
) -> tuple[Numbers, float]:
    """Class probabilities of each step, and the likelihood, from every sequence of classes."""
    weights, total = np.zeros_like(evidence), 0.0
    for classes in product(range(CLASSES), repeat=len(evidence) + 1):
        weight = before[classes[0]]
        for t, here in enumerate(classes[1:]):
            weight *= (stay * (here == classes[t]) + (1 - stay) * fresh[t, here]) * evidence[
                t, here
            ]
        total += weight
        for t, here in enumerate(classes[1:]):
            weights[t, here] += weight
    return weights / total, float(total)


@pytest.mark.parametrize("steps", [1, 2, 4])
def test_probabilities_and_likelihood_are_those_of_all_ways_through_the_chain(steps: int) -> None:
    evidence, fresh, before = example(steps)
    past = filtered(evidence[:, None], fresh, STAY, before)
    probs = smoothed(past, evidence[:, None], fresh, STAY)
    for chain, stay in enumerate(STAY):
        expected, likelihood = over_all_ways(evidence, fresh, float(stay), before[chain])
        np.testing.assert_allclose(probs[:, chain], expected)
        np.testing.assert_allclose(past.beliefs[-1, chain], expected[-1])
        assert past.totals[:, chain].prod() == pytest.approx(likelihood)


def test_several_readings_of_the_evidence_are_as_good_as_one_after_the_other() -> None:
    evidence, fresh, before = example(5)
    readings = np.stack([evidence, evidence**2], 1)
    both = filtered(readings[:, :, None], fresh, STAY, np.stack([before, before]))
    probs = smoothed(both, readings[:, :, None], fresh, STAY)
    for number in range(2):
        one = filtered(readings[:, number, None], fresh, STAY, before)
        np.testing.assert_allclose(both.totals[:, number], one.totals)
        alone = smoothed(one, readings[:, number, None], fresh, STAY)
        np.testing.assert_allclose(probs[:, number], alone)


def test_going_on_from_the_last_belief_is_filtering() -> None:
    evidence, fresh, before = example(6)
    whole = filtered(evidence[:, None], fresh, STAY, before)
    first = filtered(evidence[:4, None], fresh[:4], STAY, before)
    second = filtered(evidence[4:, None], fresh[4:], STAY, first.beliefs[-1])
    np.testing.assert_allclose(whole.beliefs[4:], second.beliefs)
    np.testing.assert_allclose(whole.totals[4:], second.totals)
