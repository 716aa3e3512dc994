"""The source model's predictions are made once for all runs of a stream."""

import pytest
import torch
from torch import Tensor, nn

from trimtab.bench import source_passes
from trimtab.bench.source_passes import TIMED_EVERY, SourcePasses, keep
from trimtab.core.backbone import Backbone

BATCHES = [torch.rand(4, 6) for _ in range(2 * TIMED_EVERY + 1)]


def backbone() -> Backbone:
    torch.manual_seed(0)
    return Backbone(nn.Sequential(nn.LayerNorm(6), nn.Linear(6, 3)))


def followed(passes: SourcePasses) -> tuple[list[Tensor], int]:
    """The predictions of a stream, and how many passes it took."""
    found = [passes(batch) for batch in BATCHES]
    return [logits for logits, _ in found], sum(seconds is not None for _, seconds in found)


def test_a_later_run_gets_the_same_predictions_and_repeats_few_passes() -> None:
    first = source_passes.source_passes("a stream", backbone())
    expected, number = followed(first)
    assert number == len(BATCHES)
    keep("a stream", first)
    found, number = followed(source_passes.source_passes("a stream", backbone()))
    assert number == 3
    assert all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))


def test_another_stream_is_predicted_anew() -> None:
    passes = source_passes.source_passes("a stream", backbone())
    followed(passes)
    keep("a stream", passes)
    assert followed(source_passes.source_passes("another", backbone()))[1] == len(BATCHES)


def test_large_predictions_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_passes, "MOST_BYTES", 4)
    passes = source_passes.source_passes("a large stream", backbone())
    followed(passes)
    keep("a large stream", passes)
    assert source_passes.source_passes("a large stream", backbone()).known == ()


def test_large_predictions_are_not_held_while_a_run_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source_passes, "MOST_BYTES", 4)
    passes = source_passes.source_passes("a stream of pixels", backbone())
    followed(passes)
    assert passes.made == []
    assert passes.batches == len(BATCHES)
