"""Where a stretch of inputs that look alike ends, and what is predicted there on average."""

import numpy as np
import numpy.typing as npt
import torch

from trimtab.components.temporal_prior.stretch import (
    KEPT_RUNS,
    KEPT_SAMPLES,
    PIECE_SAMPLES,
    UNSURE_SAMPLES,
    Plain,
    Stretch,
)
from trimtab.core.looks import NUM_LOOKS

Numbers = npt.NDArray[np.float64]
UNKNOWN, ORDERED, LONG_RUNS = Plain(0.0, 0.0), Plain(1.0, 10.0), Plain(1.0, 100.0)
ANOTHER_CLASS, ANOTHER_DOMAIN = 1.5, 6.0
"""Looks further off by so many deviations."""


def fresh() -> Stretch:
    zeros = {
        "mean": (3,),
        "counted": (),
        "class_samples": (3,),
        "inherited": (),
        "looks": (2, NUM_LOOKS),
        "looks_counted": (),
        "piece_looks": (2, NUM_LOOKS),
        "piece_counted": (),
        "piece_sum": (3,),
    }
    return Stretch.read({name: torch.zeros(shape) for name, shape in zeros.items()})


def looks(samples: int, level: float) -> Numbers:
    return level + np.random.default_rng(0).standard_normal((samples, NUM_LOOKS))


def predictions(samples: int, seed: int = 0) -> Numbers:
    return np.random.default_rng(seed).dirichlet(np.ones(3), samples)


def test_the_mean_holds_the_samples_themselves_however_they_are_batched() -> None:
    probs = predictions(100)
    for size in (1, 7, 64):
        stretch = fresh()
        for first in range(0, 100, size):
            part = probs[first : first + size]
            means = stretch.means(part, stretch.pieces(looks(len(part), 0)), UNKNOWN, np.inf)
            np.testing.assert_allclose(means.values[-1], probs[: first + size].mean(0), atol=1e-6)


def test_a_new_stretch_begins_with_the_piece_that_looks_different() -> None:
    probs = predictions(96)
    stretch = fresh()
    pieces = stretch.pieces(np.concatenate([looks(64, 0), looks(32, 6)]))
    assert [piece.changed for piece in pieces] == [False] * 4 + [True, False]
    means = stretch.means(probs, pieces, UNKNOWN, np.inf)
    np.testing.assert_allclose(means.values[:64], np.tile(probs[:64].mean(0), (64, 1)))
    np.testing.assert_allclose(means.values[64:], np.tile(probs[64:].mean(0), (32, 1)))


def test_a_piece_that_began_in_an_earlier_batch_is_counted_whole() -> None:
    probs = predictions(80)
    stretch = fresh()
    stretch.means(probs[:64], stretch.pieces(looks(64, 0)), UNKNOWN, np.inf)
    early, late = probs[64:72], probs[72:]
    stretch.means(early, stretch.pieces(looks(8, 6)), UNKNOWN, np.inf)
    pieces = stretch.pieces(looks(8, 6))
    assert [piece.changed for piece in pieces] == [True]
    means = stretch.means(late, pieces, UNKNOWN, np.inf)
    np.testing.assert_allclose(means.values[0], probs[64:].mean(0), atol=1e-6)


def test_where_order_is_plain_a_change_of_looks_keeps_part_of_the_mean() -> None:
    probs = predictions(1016)
    stretch = fresh()
    stretch.means(probs[:1000], stretch.pieces(looks(1000, 0)), ORDERED, np.inf)
    assert stretch.counted == 1000
    assert not stretch.inherited
    rest = PIECE_SAMPLES - 1000 % PIECE_SAMPLES
    stretch.means(probs[1000:][:rest], stretch.pieces(looks(rest, 9)), ORDERED, np.inf)
    assert stretch.counted <= KEPT_SAMPLES + PIECE_SAMPLES


def test_a_mean_is_of_another_domain_where_looks_are_further_apart_than_classes() -> None:
    for level, far in ((1.5, False), (6, True)):
        stretch = fresh()
        stretch.means(predictions(64), stretch.pieces(looks(64, 0)), ORDERED, np.inf)
        pieces = stretch.pieces(looks(16, level))
        assert [(piece.changed, piece.far) for piece in pieces] == [(True, far)]
        means = stretch.means(predictions(16), pieces, ORDERED, np.inf)
        assert (means.inherited == far).all()


def test_a_mean_that_begins_anew_is_of_no_other_domain() -> None:
    stretch = fresh()
    stretch.means(predictions(64), stretch.pieces(looks(64, 0)), UNKNOWN, np.inf)
    means = stretch.means(predictions(16), stretch.pieces(looks(16, 6)), UNKNOWN, np.inf)
    assert not means.inherited.any()


def counted_after(level: float, order: Plain) -> tuple[float, bool]:
    """Samples that the mean of 1,008 counts for once looks have changed, and of what it is."""
    stretch = fresh()
    stretch.means(predictions(1008), stretch.pieces(looks(1008, 0)), order, np.inf)
    means = stretch.means(predictions(16), stretch.pieces(looks(16, level)), order, np.inf)
    return stretch.counted - 16, bool(means.inherited.any())


def test_the_mean_of_long_runs_is_kept_where_another_class_looks_different() -> None:
    assert counted_after(ANOTHER_CLASS, ORDERED) == (KEPT_SAMPLES, False)
    assert counted_after(ANOTHER_CLASS, LONG_RUNS) == (KEPT_RUNS * 100, False)
    assert counted_after(ANOTHER_DOMAIN, LONG_RUNS) == (KEPT_SAMPLES, True)


def test_of_what_may_be_a_class_or_a_domain_a_little_is_kept_as_of_another_domain() -> None:
    assert counted_after(ANOTHER_CLASS, UNKNOWN) == (UNSURE_SAMPLES, True)
    assert counted_after(ANOTHER_DOMAIN, UNKNOWN) == (0, False)


def test_a_run_that_outlasts_all_others_does_not_become_the_mean() -> None:
    shown = np.eye(3)[np.repeat([0, 1, 2, 0], [200, 200, 200, 5000])]
    probs = 0.1 + 0.7 * shown
    plain, balanced = fresh(), fresh()
    for first in range(0, len(probs), 50):
        part = slice(first, first + 50)
        for stretch, classes in ((plain, None), (balanced, shown[part])):
            pieces = stretch.pieces(looks(50, 0))
            stretch.means(probs[part], pieces, ORDERED, 4000.0, classes)
    np.testing.assert_allclose(plain.mean, [0.75, 0.125, 0.125], atol=0.05)
    assert balanced.mean[0] < 0.6
    assert balanced.mean[1] > 0.2


def test_a_mean_that_counts_for_less_has_fewer_samples_of_each_class() -> None:
    stretch = fresh()
    stretch.means(predictions(90), stretch.pieces(looks(90, 0)), UNKNOWN, np.inf)
    shares = stretch.class_samples / 90
    stretch.forget(30.0, far=True)
    np.testing.assert_allclose(stretch.class_samples, 30 * shares, rtol=1e-6)
