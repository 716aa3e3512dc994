"""Estimates of how long experiments take."""

import pytest

from trimtab.reproduce.duration import Stopwatch
from trimtab.reproduce.setup import setup_for
from trimtab.reproduce.study import Study

SETUP = setup_for("fashion_mnist", ["fashion_resnet20_gn"], images_per_domain=10, seeds=(1,))


def test_streams_count_by_all_their_visits() -> None:
    watch = Stopwatch(SETUP)

    def minutes(scenario: str) -> float:
        return watch.minutes(SETUP.run("tent", SETUP.main, scenario), [], 1)

    once = minutes("single(domain='fog')")
    assert once > 0
    assert minutes("single(domain='fog', rounds=4)") == pytest.approx(4 * once)
    assert minutes("mixed") == pytest.approx(15 * once)
    assert minutes("alternating") == pytest.approx(30 * once)
    assert minutes("recurring(rounds=2)") == pytest.approx(30 * once)


def test_a_study_counts_by_its_passes() -> None:
    watch = Stopwatch(SETUP)
    study = Study("generalization", {"images": 100, "rates": (0.1, 0.2)})
    assert watch.minutes([], [study], 2) == pytest.approx(
        12 * 20 * (12 + 16) * watch.forward["fashion_resnet20_gn"] / 60 / 2
    )
