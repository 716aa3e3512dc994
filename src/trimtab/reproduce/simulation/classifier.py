"""Simulated classifiers: logits of known accuracy, calibration and bias, without a network.

A logit is noise, more at the true class, and more at the model's favourite classes. With noise of
standard deviation 1 and ``d`` more at the true class, d times the logits are exactly calibrated as
long as there is no bias (they are then the logarithm of Bayes' posterior, up to a constant).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from trimtab.reproduce.simulation.orders import Labels

Numbers = npt.NDArray[Any]

FAIR, FEW, MANY = "fair", "few favourites", "many favourites"
BY_DOMAIN = "favourites by domain"
FAVOURITES = (FAIR, FEW, MANY, BY_DOMAIN)
"""Kinds of bias. By domain, there are few, and others in each domain."""

LEAST_FAVOUR, MOST_FAVOUR = 0.3, 0.9
"""What a favourite gets of what the true class gets, drawn for each favourite."""
HELD_OUT_SAMPLES = 512
"""Independent samples on which a biased model's temperature is found."""
DOMAINS = 5
HALVINGS = 30


@dataclass(frozen=True)
class Classifier:
    """What a model does with each class.

    Args:
        sharpness: What the true class gets, in standard deviations of the noise.
        bias: What every class gets in each domain, in the same unit, (domains, classes).
        scale: Factor of the logits, an inverse temperature.
    """

    sharpness: float
    bias: Numbers
    scale: float

    def logits(self, labels: Labels, domains: Labels, rng: np.random.Generator) -> Numbers:
        """Logits of samples of these classes in these domains, (samples, classes)."""
        return np.float32(self.scale) * self._plain(labels, domains, rng)

    def _plain(self, labels: Labels, domains: Labels, rng: np.random.Generator) -> Numbers:
        drawn = rng.standard_normal((len(labels), self.bias.shape[1]), np.float32)
        drawn[np.arange(len(labels)), labels] += self.sharpness
        drawn += self.bias[domains]
        return drawn

    def calibrated(self, rng: np.random.Generator) -> "Classifier":
        """The same with the temperature at which mean confidence is accuracy, in domain 0."""
        labels = rng.integers(0, self.bias.shape[1], HELD_OUT_SAMPLES)
        plain = self._plain(labels, np.zeros_like(labels), rng)
        accuracy = float(np.mean(plain.argmax(1) == labels))
        plain -= plain.max(1, keepdims=True)
        low, high = 0.0, 4 * self.sharpness
        for _ in range(HALVINGS // 2):
            middle = (low + high) / 2
            confidence = float(np.mean(1 / np.exp(np.float32(middle) * plain).sum(1)))
            low, high = (middle, high) if confidence < accuracy else (low, middle)
        return Classifier(self.sharpness, self.bias, (low + high) / 2)

    def more_confident(self, factor: float) -> "Classifier":
        """The same with its temperature divided by a factor."""
        return Classifier(self.sharpness, self.bias, self.scale * factor)


def simulated(
    classes: int, accuracy: float, favourites: str, rng: np.random.Generator
) -> Classifier:
    """A calibrated classifier; bias comes on top of the ``accuracy`` that it has without one."""
    sharpness = sharpness_for(accuracy, classes)
    bias = np.zeros((DOMAINS, classes), np.float32)
    count = {FAIR: 0, MANY: classes // 3}.get(favourites, max(1, round(0.6 * classes**0.5)))
    for domain in range(DOMAINS):
        if domain and favourites != BY_DOMAIN:
            bias[domain] = bias[0]
            continue
        chosen = rng.choice(classes, count, replace=False)
        bias[domain, chosen] = sharpness * rng.uniform(LEAST_FAVOUR, MOST_FAVOUR, count)
    model = Classifier(sharpness, bias, sharpness)
    return model if favourites == FAIR else model.calibrated(rng)


def sharpness_for(accuracy: float, classes: int) -> float:
    """What the true class has to get for the largest logit to be its own so often."""
    if not 1 / classes < accuracy < 1:
        raise ValueError(f"accuracy must lie between 1/{classes} and 1, got {accuracy}")
    low, high = 0.0, 20.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _accuracy(middle, classes) < accuracy else (low, middle)
    return (low + high) / 2


def _accuracy(sharpness: float, classes: int) -> float:
    """How often a value around ``sharpness`` is larger than all of the others, around 0."""
    deviations = torch.linspace(-8, 8, 1601, dtype=torch.float64)
    density = torch.exp(-(deviations**2) / 2)
    largest = torch.special.ndtr(deviations + sharpness) ** (classes - 1)
    return float((density * largest).sum() / density.sum())
