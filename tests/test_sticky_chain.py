"""Smoothing along a sticky chain equals adding up all ways through it."""

import math
from itertools import product

import pytest
import torch
from torch import Tensor

from trimtab.sticky_chain import smooth

CLASSES = 3


def example(steps: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(steps)
    evidence = torch.rand(steps, CLASSES, generator=generator, dtype=torch.float64) + 0.01
    fresh = torch.rand(CLASSES, generator=generator, dtype=torch.float64).softmax(0)
    before = torch.rand(2, CLASSES, generator=generator, dtype=torch.float64).softmax(1)
    return evidence, fresh, torch.tensor([0.3, 0.9], dtype=torch.float64), before


def over_all_ways(
    evidence: Tensor, fresh: Tensor, stay: float, before: Tensor
) -> tuple[Tensor, float]:
    """Class probabilities of each step, and the likelihood, from every sequence of classes."""
    steps = len(evidence)
    weights = torch.zeros(steps, CLASSES, dtype=torch.float64)
    total = 0.0
    for classes in product(range(CLASSES), repeat=steps + 1):
        weight = float(before[classes[0]])
        for t, here in enumerate(classes[1:]):
            moved = stay * (here == classes[t]) + (1 - stay) * float(fresh[here])
            weight *= moved * float(evidence[t, here])
        total += weight
        for t, here in enumerate(classes[1:]):
            weights[t, here] += weight
    return weights / total, total


@pytest.mark.parametrize("steps", [1, 2, 4])
def test_probabilities_and_likelihood_are_those_of_all_ways_through_the_chain(steps: int) -> None:
    evidence, fresh, stay, before = example(steps)
    found = smooth(evidence, fresh, stay, before)
    for chain in range(2):
        probs, likelihood = over_all_ways(evidence, fresh, float(stay[chain]), before[chain])
        torch.testing.assert_close(found.probs[:, chain], probs)
        torch.testing.assert_close(found.last[chain], probs[-1])
        assert float(found.log_likelihood[chain]) == pytest.approx(math.log(likelihood))


def test_the_scale_of_evidence_changes_nothing_but_the_likelihoods() -> None:
    evidence, fresh, stay, before = example(6)
    scales = torch.tensor([1e-3, 7.0, 1.0, 1e3, 0.5, 2.0], dtype=torch.float64)
    plain = smooth(evidence, fresh, stay, before)
    scaled = smooth(evidence * scales[:, None], fresh, stay, before)
    torch.testing.assert_close(plain[:2], scaled[:2])
    torch.testing.assert_close(plain[2] + scales.log().sum(), scaled[2])


def test_where_nothing_stays_each_step_stands_alone() -> None:
    evidence, fresh, _, before = example(6)
    found = smooth(evidence, fresh, torch.zeros(1, dtype=torch.float64), before[:1])
    alone = evidence * fresh
    torch.testing.assert_close(found.probs[:, 0], alone / alone.sum(1, keepdim=True))


def test_going_on_from_the_last_belief_is_filtering() -> None:
    evidence, fresh, stay, before = example(6)
    whole = smooth(evidence, fresh, stay, before)
    belief, likelihood = before, torch.zeros(2, dtype=torch.float64)
    for step in evidence:
        part = smooth(step[None], fresh, stay, belief)
        belief, likelihood = part.last, likelihood + part.log_likelihood
    torch.testing.assert_close(belief, whole.last)
    torch.testing.assert_close(likelihood, whole.log_likelihood)
