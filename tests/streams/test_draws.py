import numpy as np
import pytest

from trimtab.streams.draws import Draws


def test_an_image_has_its_own_sequence_whatever_is_drawn_beside_it():
    together, alone = Draws(1, "fog", [4, 9]), Draws(1, "fog", [9])
    for shape in ((5,), (2, 3), (7,)):
        np.testing.assert_array_equal(together.words(*shape)[1], alone.words(*shape)[0])


def test_the_first_words_never_change():
    assert Draws(0, "fog", [0]).words(4).tolist() == [FIRST_WORDS]


FIRST_WORDS = [24834, 65397, 37679, 19659]


def test_seed_purpose_and_image_all_matter():
    drawn = [
        tuple(Draws(seed, purpose, [image]).words(8)[0].tolist())
        for seed, purpose, image in ((0, "fog", 0), (1, "fog", 0), (0, "snow", 0), (0, "fog", 1))
    ]
    assert len(set(drawn)) == 4


def test_values_have_the_stated_range_and_moments():
    draws = Draws(0, "test", range(50))
    uniform = draws.uniform(4000, low=-2.0, high=3.0)
    assert uniform.min() > -2
    assert uniform.max() < 3
    assert uniform.mean() == pytest.approx(0.5, abs=0.02)
    normal = draws.normal(4000, mean=1.0, sd=2.0)
    assert normal.mean() == pytest.approx(1, abs=0.03)
    assert normal.std() == pytest.approx(2, rel=0.01)
    whole = draws.integers(-2, 2, 4000)
    assert [int((whole == value).sum()) for value in (-3, 2)] == [0, 0]
    np.testing.assert_allclose(np.bincount(whole.reshape(-1) + 2) / whole.size, 0.25, atol=0.01)
