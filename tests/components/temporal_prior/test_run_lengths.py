"""How long runs of one class last."""

import numpy as np
import pytest
import torch

from trimtab.components.temporal_prior.run_lengths import RUNS, RunLengths


def runs_of(*lengths: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.eye(3)[np.repeat(np.arange(len(lengths)) % 3, lengths)]


def test_the_usual_length_is_that_of_the_run_a_sample_belongs_to() -> None:
    lengths = RunLengths(-1, 0.0, 0.0, 0.0)
    lengths.follow(runs_of(32, 320, 16), plain=True)
    kept = 1 - 1 / RUNS
    assert lengths.usual == pytest.approx((kept * 32**2 + 320**2) / (kept * 32 + 320))
    assert (lengths.label, lengths.length) == (2, 16)


@pytest.mark.parametrize("batch", [16, 48, 96])
def test_runs_go_on_over_batches(batch: int) -> None:
    predictions = runs_of(96, 192, 96)
    lengths = RunLengths(-1, 0.0, 0.0, 0.0)
    for first in range(0, len(predictions), batch):
        lengths.follow(predictions[first : first + batch], plain=True)
    assert lengths.total == pytest.approx((1 - 1 / RUNS) * 96 + 192)


def test_what_ends_while_order_is_not_plain_is_no_run() -> None:
    lengths = RunLengths(-1, 0.0, 0.0, 0.0)
    lengths.follow(runs_of(64, 64, 64), plain=False)
    assert lengths.usual == 0


def test_they_are_kept_in_a_memory() -> None:
    memory = {"runs": torch.zeros(4)}
    RunLengths(2, 16.0, 348.0, 103321.0).write(memory)
    assert RunLengths.read(memory) == RunLengths(2, 16.0, 348.0, 103321.0)
