"""Ranks that share a stream get what one process gets from the joined batches, in every method."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import trimtab
from distributed import streams
from same import assert_same

TOLERANCES = {"float64": 1e-9, "float32": 1e-5}
"""Of the largest value; one process's own rounding in float32 is as large."""

KINDS = {2: "float64", 3: "float32"}


CASES = [(size, name) for size in KINDS for name in streams.cases(size)]


def assert_close(got: Any, expected: Any, dtype: str) -> None:
    """Equal within the type's tolerance, all the way down."""
    if isinstance(expected, dict):
        assert got.keys() == expected.keys()
        for key in expected:
            assert_close(got[key], expected[key], dtype)
    elif isinstance(expected, Tensor) and expected.is_floating_point():
        largest = max(float(expected.abs().max()), 1.0) if expected.numel() else 1.0
        torch.testing.assert_close(got, expected, rtol=0, atol=TOLERANCES[dtype] * largest)
    else:
        assert_same(got, expected)


@pytest.mark.slow
@pytest.mark.xdist_group("ranks")
@pytest.mark.parametrize(("size", "name"), CASES)
def test_ranks_get_what_one_process_gets(
    size: int, name: str, results_of: Callable[[int, str], list[Any]]
) -> None:
    results = results_of(size, "every_case")
    case, dtype = streams.cases(size)[name], KINDS[size]
    kind = getattr(torch, dtype)
    one = streams.start(case, kind)
    for call, parts in enumerate(streams.shards(size, kind)):
        got = [result[name]["logits"][call] for result in results]
        assert [len(logits) for logits in got] == [len(part) for part in parts]
        assert_close(torch.cat(got), one(torch.cat(parts)), dtype)
    foreseen = torch.cat([result[name]["foreseen"] for result in results])
    assert_close(foreseen, one.predict(streams.samples(kind)[80 : 80 + 3 * size]), dtype)
    states = [result[name]["state"] for result in results]
    for state in states[1:]:
        assert_same(state, states[0])  # bit for bit
    if dtype == "float64":  # in float32, Adam moves by rounding where a gradient is all but zero
        assert_close(states[0], one.state_dict(), dtype)
    alone = streams.start(case, kind)
    alone.load_state_dict(states[0])
    batch = streams.samples(kind)[60:68]
    assert_close(alone(batch), one(batch), dtype)


@pytest.mark.slow
@pytest.mark.xdist_group("ranks")
def test_inputs_by_name_are_joined_too(results_of: Callable[[int, str], list[Any]]) -> None:
    one = trimtab.adapt(streams.Scaled(), "tent")
    first, second = results_of(2, "structured")
    for call, rows in enumerate([(0, 20), (20, 40)]):
        got = torch.cat([first[call], second[call]])
        assert_close(got, one(streams.named_inputs(*rows)), "float32")
