"""Learning from source data along the stream."""

from collections.abc import Iterable, Iterator

import pytest
import torch
from torch import Tensor

import trimtab
from components.steps import step
from reference import nets
from trimtab.components.source_replay import SourceReplay

BATCHES = [(torch.full((2, 1), float(n)), torch.tensor([n % 3, 0])) for n in range(3)]


class Loader:
    """Can be iterated again and again, but not indexed; counts the batches it gave."""

    def __init__(self) -> None:
        self.given = 0

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        for batch in BATCHES:
            self.given += 1
            yield batch


def first_values(source: Iterable[tuple[Tensor, Tensor]], numbers: Iterable[int]) -> list[float]:
    bookmarks = SourceReplay(source).bookmarks
    return [float(bookmarks.batch(number, 3)[0][0]) for number in numbers]


def test_batches_come_in_order_and_begin_again() -> None:
    loader = Loader()
    assert first_values(loader, range(5)) == [0, 1, 2, 0, 1]
    assert loader.given == 5


def test_two_streams_read_each_batch_on_their_own() -> None:
    loader = Loader()
    marks = SourceReplay(loader).bookmarks
    pairs = [(marks.batch(n, 3), marks.batch(n, 3)) for n in range(4)]
    assert all(torch.equal(left[0], right[0]) for left, right in pairs)
    assert loader.given == 8  # no batch is read twice by one stream


def test_a_stream_that_goes_on_elsewhere_finds_its_place() -> None:
    assert first_values(Loader(), range(4, 6)) == [1, 2]


def test_the_loss_is_the_mean_cross_entropy_of_the_source_batch_for_each_sample(
    model: nets.Net, images: Tensor
) -> None:
    labels = torch.arange(8) % 7
    method = trimtab.build("tent").plus(SourceReplay([(images[:8], labels)]))
    adapter = trimtab.adapt(model, method)
    adapter(images[16:32])
    assert adapter.counters.backward_samples == 16 + 8
    assert adapter.memory["source_replay"]["batches_read"] == 1


def test_source_data_that_can_be_read_once_only_is_refused() -> None:
    with pytest.raises(ValueError, match="each time it is iterated"):
        first_values(iter(BATCHES), range(4))


def test_readers_that_wait_are_few_however_many_updates_and_streams() -> None:
    marks = SourceReplay(Loader()).bookmarks
    for number in range(100):
        marks.batch(number, 3)
    assert len(marks) == 1
    for number in range(100):  # streams that stop there
        marks.batch(3 * number, 3)
    assert len(marks) == marks.MOST


def test_a_batch_that_is_asked_for_again_is_the_same() -> None:
    """As by a step that is taken again because it has failed."""
    assert first_values(Loader(), [0, 1, 1, 2, 2]) == [0, 1, 1, 2, 2]


def test_labels_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match=r"must lie in \[0, 2\)"):
        SourceReplay([BATCHES[2]]).loss(step(torch.zeros(1, 2)), {"batches_read": torch.tensor(0)})
