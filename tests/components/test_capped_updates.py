"""No batch moves the weights much further than batches usually do."""

import pytest
import torch

from trimtab.components.capped_updates import KNOWN_UPDATES, CappedUpdates


def updated(rule: CappedUpdates, lengths: list[float]) -> list[float]:
    """How far updates of these lengths go, each from where the one before ended."""
    memory = {"before.w": torch.zeros(2), "usual": torch.zeros(()), "updates": torch.zeros(())}
    params, went = {"w": torch.zeros(2)}, []
    for length in lengths:
        start = params["w"].clone()
        params["w"] += torch.tensor([0.6, 0.8]) * length
        rule.after_update(params, {}, memory)
        went.append(float((params["w"] - start).norm()))
    return went


def test_usual_updates_stay_as_they_are() -> None:
    lengths = [1.0, 1.2, 0.8, 1.1, 1.5, 0.9]
    assert updated(CappedUpdates(), lengths) == pytest.approx(lengths, rel=1e-4)


def test_a_long_update_is_cut_to_a_multiple_of_the_usual() -> None:
    went = updated(CappedUpdates(longest=3.0), [1.0] * KNOWN_UPDATES + [50.0])
    assert went[-1] == pytest.approx(3.0, rel=1e-4)


def test_many_long_updates_become_usual_slowly() -> None:
    went = updated(CappedUpdates(), [1.0] * KNOWN_UPDATES + [50.0] * 5)
    assert 2 < went[-1] < 4


def test_a_cap_must_be_positive() -> None:
    with pytest.raises(ValueError, match="longest must be positive"):
        CappedUpdates(longest=0)
