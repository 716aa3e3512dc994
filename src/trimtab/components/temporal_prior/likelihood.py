"""What predictions say of classes: likelihoods relative to a mean prediction, mistakes allowed."""

from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.core.backbone import Tensors

Numbers = npt.NDArray[Any]

FEW_WRONG, MANY_WRONG = 0.15, 0.5
"""Shares of predictions that say nothing of their class, however sure: mistakes end no run.
Chains are weighed against each other for both."""
WRONG_PER_DOUBT, FEW_SHARE = 1.2, 0.5
"""The larger share is at most so many times what the model's own confidence admits, and the smaller
one half of that: of a model that is right in nine cases of ten, four sure predictions in ten are
not all mistakes."""
CONFIDENCE_SAMPLES = 512.0
"""Samples over which the mean confidence is taken."""
NUM_WRONG = 2
RARE = 0.3
"""Share of a fair class's mean prediction below which a ratio to it says little: where a stream
shows one class only, the rest is so small that a change of temperature multiplies it."""


def wrong_shares(probs: Numbers, memory: Tensors) -> Numbers:
    """Shares of predictions that say nothing of their class, (NUM_WRONG,): fewer and more."""
    counted = float(memory["confidence_counted"])
    total = counted * float(memory["confidence"]) + float(probs.max(1).sum())
    confidence = total / (counted + len(probs))
    memory["confidence"].fill_(confidence)
    memory["confidence_counted"].fill_(min(counted + len(probs), CONFIDENCE_SAMPLES))
    admitted = WRONG_PER_DOUBT * (1 - confidence)
    return np.array([min(FEW_SHARE * admitted, FEW_WRONG), min(admitted, MANY_WRONG)], np.float32)


def by_chains(probs: Numbers, mean: Numbers, wrong: Numbers) -> Numbers:
    """What chains read of predictions beyond the mean one, (samples, NUM_WRONG, 1, classes)."""
    ratios = probs / np.maximum(mean, RARE / mean.shape[1])
    return np.asarray(((1 - wrong[:, None]) * ratios[:, None] + wrong[:, None])[:, :, None])


def by_sets(probs: Numbers, mean: Numbers) -> Numbers:
    """What predictions say of classes beyond what is predicted on average, (samples, classes)."""
    return np.asarray((1 - FEW_WRONG) * probs / np.maximum(mean, RARE / mean.shape[1]) + FEW_WRONG)
