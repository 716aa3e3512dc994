"""Ranks that share a stream get what one process gets from the joined batches: every method."""

from typing import Any

import pytest
import torch
from torch import Tensor

import trimtab
from distributed import streams
from distributed.ranks import run
from same import assert_same

TOLERANCES = {"float64": 1e-9, "float32": 1e-5}
"""Of the largest value; one process's own rounding in float32 is as large."""

KINDS = {2: "float64", 3: "float32"}


@pytest.fixture(scope="module", params=KINDS, ids=lambda size: f"{size} ranks")
def ranks(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """How many ranks, and what each of them got."""
    folder = tmp_path_factory.mktemp("ranks")
    size = request.param
    return size, run("distributed.streams.every_method", size, folder, KINDS[size])


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


@pytest.mark.xdist_group("ranks")
@pytest.mark.parametrize("method", trimtab.METHODS)
def test_ranks_get_what_one_process_gets_and_one_goes_on_with_their_state(
    method: str, ranks: Any
) -> None:
    size, results = ranks
    (norm,) = streams.norms_of(method, size)
    dtype = KINDS[size]
    one = streams.start(method, norm, getattr(torch, dtype))
    for call, parts in enumerate(streams.shards(size, getattr(torch, dtype))):
        got = [result[f"{method}-{norm}"]["logits"][call] for result in results]
        assert [len(logits) for logits in got] == [len(part) for part in parts]
        assert_close(torch.cat(got), one(torch.cat(parts)), dtype)
    states = [result[f"{method}-{norm}"]["state"] for result in results]
    for state in states[1:]:
        assert_same(state, states[0])  # bit for bit
    if dtype == "float64":  # in float32, Adam moves by rounding where a gradient is all but zero
        assert_close(states[0], one.state_dict(), dtype)
    alone = streams.start(method, norm, getattr(torch, dtype))
    alone.load_state_dict(states[0])
    batch = streams.samples(getattr(torch, dtype))[60:68]
    assert_close(alone(batch), one(batch), dtype)
