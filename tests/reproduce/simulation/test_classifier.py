"""Simulated classifiers are as accurate, as calibrated and as biased as they say."""

import numpy as np
import pytest

from trimtab.reproduce.simulation.classifier import (
    BY_DOMAIN,
    DOMAINS,
    FAIR,
    FEW,
    MANY,
    Classifier,
    sharpness_for,
    simulated,
)

SAMPLES = 6000


def outcome(model: Classifier, domain: int = 0) -> tuple[float, float, np.ndarray]:
    """Accuracy and mean confidence on independent samples; how often each class is predicted."""
    rng = np.random.default_rng(5)
    classes = model.bias.shape[1]
    labels = rng.integers(0, classes, SAMPLES)
    logits = model.logits(labels, np.full(SAMPLES, domain), rng).astype(np.float64)
    guesses = logits.argmax(1)
    odds = np.exp(logits - logits.max(1, keepdims=True)).sum(1)
    counts = np.bincount(guesses, minlength=classes)
    return float(np.mean(guesses == labels)), float(np.mean(1 / odds)), counts


def made(classes: int, accuracy: float, favourites: str, seed: int = 1) -> Classifier:
    return simulated(classes, accuracy, favourites, np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("classes", "accuracy"), [(2, 0.6), (2, 0.9), (10, 0.2), (10, 0.75), (100, 0.5), (1000, 0.9)]
)
def test_a_fair_model_has_the_stated_accuracy_and_knows_it(classes: int, accuracy: float) -> None:
    found, confidence, _ = outcome(made(classes, accuracy, FAIR))
    assert found == pytest.approx(accuracy, abs=0.025)
    assert confidence == pytest.approx(accuracy, abs=0.025)


@pytest.mark.parametrize("favourites", [FEW, MANY])
@pytest.mark.parametrize("classes", [10, 100])
def test_a_biased_model_prefers_its_favourites_and_knows_its_accuracy(
    classes: int, favourites: str
) -> None:
    model = made(classes, 0.75, favourites)
    accuracy, confidence, counts = outcome(model)
    favoured = model.bias[0] > 0
    assert favoured.sum() == {FEW: {10: 2, 100: 6}, MANY: {10: 3, 100: 33}}[favourites][classes]
    assert counts[favoured].mean() > 1.5 * counts[~favoured].mean()
    assert accuracy < 0.7
    assert confidence == pytest.approx(accuracy, abs=0.06)


def test_half_the_temperature_is_overconfident_and_as_accurate() -> None:
    model = made(10, 0.5, FAIR)
    sure = model.more_confident(2.0)
    assert outcome(sure)[0] == outcome(model)[0]
    assert outcome(sure)[1] > outcome(model)[1] + 0.1


def test_favourites_change_with_the_domain_where_they_should() -> None:
    by_domain = made(100, 0.75, BY_DOMAIN).bias
    assert len({tuple(np.flatnonzero(row)) for row in by_domain}) == DOMAINS
    assert (made(100, 0.75, FEW).bias == made(100, 0.75, FEW).bias[0]).all()
    assert not made(100, 0.75, FAIR).bias.any()


def test_a_model_is_decided_by_its_seed() -> None:
    one, same, other = made(10, 0.75, FEW), made(10, 0.75, FEW), made(10, 0.75, FEW, seed=2)
    assert np.array_equal(one.bias, same.bias)
    assert one.scale == same.scale
    assert not np.array_equal(one.bias, other.bias)


@pytest.mark.parametrize("accuracy", [0.1, 0.05, 1.0])
def test_an_accuracy_that_no_model_has_is_refused(accuracy: float) -> None:
    with pytest.raises(ValueError, match="between 1/10 and 1"):
        sharpness_for(accuracy, 10)
