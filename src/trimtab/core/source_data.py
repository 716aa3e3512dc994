"""Labelled source data that a user may hand to a method."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from torch import Tensor

SourceData = Iterable[tuple[Tensor, Tensor]]
"""Batches of inputs and labels; iterated more than once, so a list or a loader, no generator."""


SourceInputs = Iterable[Tensor | Sequence[Tensor]]
"""Batches of inputs, or of inputs and labels that nobody looks at; a list or a loader, as above."""


def unlabelled(source: SourceInputs, sample_shape: tuple[int, ...]) -> Iterator[Tensor]:
    """One pass over the inputs of source data, whose samples have to be of this shape."""
    empty = True
    for batch in source:
        empty = False
        inputs = batch if isinstance(batch, Tensor) else batch[0]
        if tuple(inputs.shape[1:]) != sample_shape:
            expected = ", ".join(str(size) for size in ("batch", *sample_shape))
            raise ValueError(
                f"source_data must give inputs of shape ({expected}), as the stream has, got "
                f"{tuple(inputs.shape)}"
            )
        yield inputs
    if empty:
        raise ValueError(
            "source_data must hold at least one batch, got none; an iterator can be read only "
            "once, so give a list or a loader"
        )


def labelled(source_data: SourceData, classes: int) -> Iterator[tuple[Tensor, Tensor]]:
    """One pass over source data of ``classes`` classes: inputs and labels."""
    empty = True
    for batch in source_data:
        empty = False
        yield _checked(batch, classes)
    if empty:
        raise ValueError(
            "source_data must give batches of inputs and labels each time it is iterated, got none"
        )


def endless(source_data: SourceData, classes: int) -> Iterator[tuple[Tensor, Tensor]]:
    """The same, pass after pass."""
    while True:
        yield from labelled(source_data, classes)


class Bookmarks:
    """Batches of source data by their number, for streams that read them one after the other.

    A stream that goes on finds the reader that it has left, so that loaders without an index are
    not read from their start for each batch. Of readers that nobody comes back to, the oldest go.
    """

    MOST = 16
    """Readers that wait at a time."""

    def __init__(self, source_data: SourceData) -> None:
        self.source_data = source_data
        self._waiting: list[tuple[int, Iterator[tuple[Tensor, Tensor]]]] = []
        self._lock = threading.Lock()

    def batch(self, number: int, classes: int) -> tuple[Tensor, Tensor]:
        """Inputs and labels of this batch; numbers go on when the data begins again."""
        with self._lock:
            place = next((i for i, (at, _) in enumerate(self._waiting) if at == number), None)
            if place is None:
                reader: Iterator[tuple[Tensor, Tensor]] = islice(
                    endless(self.source_data, classes), number, None
                )
            else:
                reader = self._waiting.pop(place)[1]
            found = next(reader)
            self._waiting = [*self._waiting[1 - self.MOST :], (number + 1, reader)]
            return found

    def __len__(self) -> int:
        return len(self._waiting)


def _checked(batch: object, classes: int) -> tuple[Tensor, Tensor]:
    if not isinstance(batch, (tuple, list)) or len(batch) != 2:
        raise ValueError(
            f"source_data must give pairs of inputs and labels, got {type(batch).__name__}"
        )
    inputs, labels = batch
    if labels.shape != (len(inputs),) or labels.is_floating_point():
        raise ValueError(
            f"source_data must give one whole number a sample as its label, got {len(inputs)} "
            f"samples and labels of shape {tuple(labels.shape)}, {labels.dtype}"
        )
    if not bool(((labels >= 0) & (labels < classes)).all()):
        raise ValueError(
            f"source labels must lie in [0, {classes}), got {int(labels.min())} to "
            f"{int(labels.max())}"
        )
    return inputs, labels.long()
