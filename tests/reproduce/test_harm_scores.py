"""Numbers that are read off a record of a hostile stream."""

from typing import Any

import pytest

from trimtab.reproduce.harm_scores import HarmScores


def scores(plain: list[int], guarded: list[int], **more: Any) -> HarmScores:
    count = len(plain)
    record = {
        "scored": [100] * count,
        "source": [10] * count,
        "plain": plain,
        "guarded": guarded,
        "source_predicts": [0] * count,
        "alarms": [0] * count,
        "plain_passes": 100,
        "guarded_passes": 107,
        "clean_samples": 200,
    }
    return HarmScores(record | more)


def test_points_above_the_source_over_the_whole_stream() -> None:
    found = scores([10] * 10 + [40] * 10, [10] * 20)
    assert found.whole("plain") == pytest.approx(15)
    assert found.whole("guarded") == 0


def test_the_worst_thousand_samples_are_found() -> None:
    found = scores([10] * 8 + [30] * 10 + [0] * 8, [10] * 26)
    assert found.stretch("plain") == pytest.approx(20)


def test_the_clean_end_is_scored_for_itself() -> None:
    found = scores([50] * 18 + [12, 14], [10] * 20)
    assert found.afterwards("plain") == pytest.approx(3)


def test_recovery_is_counted_in_samples_of_the_clean_end() -> None:
    found = scores([50] * 16 + [40, 40, 11, 10], [10] * 20, clean_samples=400)
    assert found.recovery("plain") == 200
    assert found.recovery("guarded") == 0


def test_a_gain_can_be_lost_only_where_there_is_one() -> None:
    assert scores([5] * 20, [6] * 20).gain_lost == pytest.approx(1)
    assert scores([15] * 20, [10] * 20).gain_lost == 0


def test_the_story_tells_when_the_source_predicted() -> None:
    flags = [0] * 5 + [1] * 5 + [0] * 10
    story = scores([10] * 20, [10] * 20, source_predicts=flags).story
    assert story == "The guard: the source predicts from 600 on; adapted again from 1100 on."
    assert scores([10] * 20, [10] * 20).story == "The guard did not act."
