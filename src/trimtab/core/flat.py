"""Parameters of a stream in one piece of memory, so that those of many are stacked fast."""

from __future__ import annotations

from collections.abc import Mapping
from operator import is_

from torch import Tensor


class Flat(dict[str, Tensor]):
    """Tensors by name, one after the other in the memory of one tensor: the row.

    Editing a tensor in place edits the row. Once a name has another tensor there is no row.

    Args:
        tensors: In the order in which they lie.
        row: All their values, shape (values,).
    """

    def __init__(self, tensors: Mapping[str, Tensor], row: Tensor) -> None:
        super().__init__(tensors)
        self._row = row
        self._parts = tuple(self.values())

    @property
    def row(self) -> Tensor | None:
        """All values one after the other, where they still lie so."""
        parts = self._parts
        whole = len(self) == len(parts) and all(map(is_, self.values(), parts))
        return self._row if whole else None

    def copy(self) -> Flat:
        """The same tensors in another mapping."""
        twin = Flat(self, self._row)
        twin._parts = self._parts
        return twin


def row_of(tensors: Mapping[str, Tensor]) -> Tensor | None:
    """The row of tensors that have one."""
    return tensors.row if isinstance(tensors, Flat) else None
