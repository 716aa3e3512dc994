"""Hostile streams: of the promised length, the same for the same seed, scored where it counts."""

import numpy as np
import pytest
import torch

from trimtab.streams.data import LabelledImages, load
from trimtab.streams.hostile import STREAMS, UNSCORED, Source, batches

HARD = 48


@pytest.fixture(scope="module")
def images() -> LabelledImages:
    return load("fashion_mnist").subset(np.arange(0, 3000, 15))


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_is_whole_and_repeatable(name: str, images: LabelledImages) -> None:
    source = Source(images, seed=1, hard=HARD)
    first, again = (list(batches(name, source, 16)) for _ in range(2))
    for (x, labels), (other, other_labels) in zip(first, again, strict=True):
        assert torch.equal(x, other)
        assert (labels == other_labels).all()
        assert len(x) == len(labels) <= 16
        assert x.isfinite().all()
    labels = np.concatenate([pair[1] for pair in first])
    mixed = 15 * (HARD // 15)
    lengths = {"recurring": 60 * source.part, "mixed": mixed, "correlated mix": mixed}
    hard = lengths.get(name, HARD)
    assert len(labels) == 2 * source.lead + hard
    assert (labels[-source.lead :] >= 0).all()


def test_noise_is_scored_by_nobody(images: LabelledImages) -> None:
    labels = np.concatenate(
        [pair[1] for pair in batches("noise", Source(images, 1, hard=HARD), 16)]
    )
    assert (labels == UNSCORED).sum() == HARD


def test_a_run_of_one_class_is_of_one_class(images: LabelledImages) -> None:
    found = list(batches("one class", Source(images, 3, hard=HARD), 8))
    hard = np.concatenate([labels for _, labels in found[3:9]])
    assert set(hard.tolist()) == {3}


@pytest.mark.parametrize("name", ["correlated", "correlated mix"])
def test_classes_come_in_runs_from_the_first_sample_on(name: str, images: LabelledImages) -> None:
    found = np.concatenate([pair[1] for pair in batches(name, Source(images, 1, hard=480), 16)])
    changes = np.flatnonzero(np.diff(found[:-240])) + 1
    assert 9 <= len(changes) <= 60
    assert changes[0] < 60
    assert len(set(found[:240].tolist())) == 10


def test_strangers_join_in_the_hard_stretch_alone(images: LabelledImages) -> None:
    seen = []

    def strangers(inputs: torch.Tensor, labels: np.ndarray) -> tuple[torch.Tensor, np.ndarray]:
        seen.append(len(labels))
        return inputs, np.full_like(labels, UNSCORED)

    found = list(batches("flooded", Source(images, 1, hard=HARD), 16, strangers))
    assert sum(seen) == HARD
    assert sum(int((labels < 0).sum()) for _, labels in found) == HARD
