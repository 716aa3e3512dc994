"""A rank that fails takes the others out of the call, and a lost one never lets them wait."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from distributed import streams
from distributed.ranks import TIMEOUT_SECONDS


@pytest.fixture
def failing(results_of: Callable[[int, str], list[Any]]) -> list[Any]:
    """What ranks 0 and 1 saw of the failures of rank 1."""
    return results_of(2, "one_rank_fails")


EXPECTED = {
    "a batch with NaN": ("OtherRankError: rank 1 failed (ValueError: inputs must be finite",),
    "samples of another shape": ("ValueError: all ranks must have the same kind of samples",),
    "another type": ("OtherRankError: rank 1 failed (ValueError: inputs must be torch.float32",),
    "no tensor": ("rank 1 failed (ValueError: inputs must be a tensor",),
    "nothing at all": ("ValueError: inputs must have at least one sample on some rank",),
    "another call": ("same call, got a call on rank 0 and a prediction on rank 1",),
    "no memory in pass 1": ("OtherRankError: rank 1 failed (MemoryError: no memory left)",),
    "no memory in pass 2": ("OtherRankError: rank 1 failed (MemoryError: no memory left)",),
    "an update of its own": ("ValueError: all ranks must have the same parameters",),
    "no memory on the way back": ("rank 1 failed (MemoryError: no memory left to go back",),
}


@pytest.mark.slow
@pytest.mark.xdist_group("ranks")
@pytest.mark.parametrize("name", EXPECTED)
def test_a_failure_of_one_rank_is_raised_on_all_with_its_reason(name: str, failing: Any) -> None:
    for result in failing:
        assert result["errors"][name] != "nothing was raised"
    assert all(part in failing[0]["errors"][name] for part in EXPECTED[name])
    own = failing[1]["errors"][name]
    assert own.startswith(("ValueError", "MemoryError"))  # the failing rank raises its own error


@pytest.mark.slow
@pytest.mark.xdist_group("ranks")
def test_calls_after_failures_go_on_as_if_there_were_none(failing: Any) -> None:
    one, images = streams.start(streams.Case("roid", "bn", {}), torch.float32), streams.samples()
    expected = [one(images[:16]), one(images[16:32])]
    one.reset()
    expected.append(one(images[:16]))
    for call, logits in enumerate(expected):
        got = torch.cat([result["logits"][call] for result in failing])
        torch.testing.assert_close(got, logits, rtol=0, atol=1e-5 * float(logits.abs().max()))


@pytest.mark.slow
@pytest.mark.xdist_group("ranks")
def test_ranks_do_not_wait_for_one_that_is_lost(
    results_of: Callable[[int, str], list[Any]], folder: Path
) -> None:
    first, killed = results_of(2, "one_rank_is_lost")
    assert killed is None
    assert first["silent"].startswith("LostRankError: a rank of the process group is gone, or was")
    assert first["waited"] < TIMEOUT_SECONDS
    assert first["killed"].startswith("LostRankError: a rank of the process group is gone, or was")
    assert first["noticed after"] < TIMEOUT_SECONDS
    assert first["again"].startswith("LostRankError")
    one = streams.start(streams.Case("roid", "bn", {}), torch.float32)
    one.load(folder / "2" / "state.safetensors")
    assert one.counters.samples == 16
