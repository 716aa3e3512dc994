"""Independent draws from another mean: as much as they explain, order need not."""

import numpy as np
import numpy.typing as npt

from trimtab.components.temporal_prior.shift import MEAN_SAMPLES, Shift

Numbers = npt.NDArray[np.float64]


def likelihoods(favoured: float, samples: int = 200) -> tuple[Numbers, Numbers]:
    """Of independent samples of three classes, the first with this share; and the earlier mean."""
    classes = np.random.default_rng(0).choice(
        3, samples, p=[favoured, (1 - favoured) / 2, (1 - favoured) / 2]
    )
    probs = np.full((samples, 3), 0.05)
    probs[np.arange(samples), classes] = 0.9
    mean = np.full((samples, 3), 1 / 3)
    return probs / mean, mean


def fresh() -> Shift:
    return Shift(np.zeros(3), 0.0)


def test_the_earlier_mean_needs_no_other() -> None:
    gains = fresh().gains(*likelihoods(1 / 3), begins=())
    assert -np.log(2) <= gains.sum() < 0.5


def test_another_mean_is_likelier_by_what_tells_them_apart() -> None:
    evidence, mean = likelihoods(0.9)
    shift = fresh()
    gains = shift.gains(evidence, mean, begins=())
    best = np.log((evidence * [0.9, 0.05, 0.05]).sum(1)).sum()
    assert 0.85 * best < gains.sum() < best
    assert shift.drawn.argmax() == 0


def test_it_is_the_same_however_samples_are_batched() -> None:
    evidence, mean = likelihoods(0.7)
    parts = fresh()
    pieces = [parts.gains(evidence[i : i + 7], mean[i : i + 7], ()) for i in range(0, 200, 7)]
    np.testing.assert_allclose(np.concatenate(pieces), fresh().gains(evidence, mean, ()))


def test_a_stretch_that_begins_knows_the_earlier_mean_alone() -> None:
    evidence, mean = likelihoods(0.9)
    gains = fresh().gains(evidence, mean, begins={100})
    np.testing.assert_allclose(gains[100:], fresh().gains(evidence[100:], mean[100:], ()))


def test_the_first_sample_is_explained_by_the_earlier_mean_as_well() -> None:
    evidence, mean = likelihoods(0.9, samples=1)
    shift = fresh()
    assert abs(shift.gains(evidence, mean, ())[0] - np.log((1 + evidence @ mean[0]) / 2)[0]) < 1e-9
    assert abs(shift.drawn.sum() - 1) < 1e-9 < MEAN_SAMPLES
