"""Axes with round numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.report.plots.scale import Scale, doubling_span, doublings, span, ticks


def test_ticks_are_round() -> None:
    assert ticks(0, 100) == [0, 20, 40, 60, 80, 100]
    assert ticks(3, 47) == [10, 20, 30, 40]
    assert ticks(0, 15_000, about=4) == [0, 5000, 10000, 15000]


def test_ticks_of_doublings_are_powers_of_two() -> None:
    assert doublings(0.9, 9) == [1, 2, 4, 8]
    assert doublings(1, 300) == [1, 4, 16, 64, 256]


@given(st.lists(st.floats(-1e3, 1e3), min_size=1))
def test_a_span_holds_all_values_and_some_ticks(values: list[float]) -> None:
    low, high = span(values)
    assert low <= min(values) + 1e-6
    assert high >= max(values) - 1e-6
    assert 2 <= len(ticks(low, high)) <= 12


@given(st.lists(st.floats(0.1, 1e3), min_size=1))
def test_a_span_of_doublings_holds_all_values_and_a_tick(values: list[float]) -> None:
    low, high = doubling_span(values)
    assert low < min(values) <= max(values) < high
    assert doublings(low, high)


def test_a_scale_maps_its_ends_and_its_middle() -> None:
    scale = Scale(0, 10, 100, 0)
    assert [scale(value) for value in (0, 5, 10)] == [100, 50, 0]
    assert Scale(1, 4, 0, 10, doubling=True)(2) == pytest.approx(5)
