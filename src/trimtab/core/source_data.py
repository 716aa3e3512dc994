"""Labelled source data that a user may hand to a method."""

from collections.abc import Iterable, Iterator

from torch import Tensor

SourceData = Iterable[tuple[Tensor, Tensor]]
"""Batches of inputs and labels; iterated more than once, so a list or a loader, no generator."""


def labelled(source_data: SourceData, classes: int) -> Iterator[tuple[Tensor, Tensor]]:
    """One pass over source data of so many classes: inputs and labels."""
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
