"""Batches of inputs that are several tensors, or whole numbers: tokens, masks, pairs of images.

The engine cuts, joins and passes them on as it does tensors, by the verbs they share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

Given = Tensor | Mapping[str, Tensor] | Sequence[Tensor]
"""A batch as users have it."""

MASK = "mask"
"""Inputs that are called so are ones in a blank sample: nothing may be left of one without."""


@dataclass(frozen=True)
class Form:
    """What one structured sample looks like: the name, shape and type of each of its tensors.

    Tensors without a name are handed to the model in their order.
    """

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    kinds: tuple[str, ...]

    def blank(self, device: torch.device) -> Structured:
        """One sample of zeros, but for its masks."""
        tensors = [
            (torch.ones if MASK in name else torch.zeros)(
                1, *shape, dtype=getattr(torch, kind), device=device
            )
            for name, shape, kind in zip(self.names, self.shapes, self.kinds, strict=True)
        ]
        return Structured(self.names, tuple(tensors))

    def fits(self, other: Form) -> bool:
        """Whether samples have the same names, types and numbers of dimensions."""
        dims, others = ([len(shape) for shape in form.shapes] for form in (self, other))
        return (self.names, self.kinds, dims) == (other.names, other.kinds, others)

    def state(self) -> list[list[Any]]:
        """As plain lists."""
        return [
            list(row) for row in zip(self.names, map(list, self.shapes), self.kinds, strict=True)
        ]

    @classmethod
    def of(cls, state: Any) -> Form:
        """From plain lists; a ValueError where these are none of a form."""
        try:
            names, shapes, kinds = zip(*state, strict=True)
            form = cls(tuple(names), tuple(tuple(map(int, s)) for s in shapes), tuple(kinds))
            if all(isinstance(getattr(torch, kind, None), torch.dtype) for kind in form.kinds):
                return form
        except (TypeError, ValueError):
            pass
        raise ValueError(f"this state does not fit: its form must be names and shapes, got {state}")


@dataclass(frozen=True, eq=False)
class Structured:
    """A batch of structured samples; each tensor's first dimension is the batch."""

    names: tuple[str, ...]
    tensors: tuple[Tensor, ...]

    def __len__(self) -> int:
        return len(self.tensors[0])

    def __getitem__(self, rows: Tensor | slice) -> Structured:
        return Structured(self.names, tuple(tensor[rows] for tensor in self.tensors))

    @property
    def shape(self) -> torch.Size:
        """Of the first tensor."""
        return self.tensors[0].shape

    @property
    def device(self) -> torch.device:
        return self.tensors[0].device

    @property
    def form(self) -> Form:
        shapes = tuple(tuple(tensor.shape[1:]) for tensor in self.tensors)
        kinds = tuple(str(tensor.dtype).removeprefix("torch.") for tensor in self.tensors)
        return Form(self.names, shapes, kinds)

    def dim(self) -> int:
        return self.tensors[0].dim()

    def split(self, samples: int) -> list[Structured]:
        """Parts of at most so many samples."""
        parts = zip(*(tensor.split(samples) for tensor in self.tensors), strict=True)
        return [Structured(self.names, part) for part in parts]

    def clone(self) -> Structured:
        return Structured(self.names, tuple(tensor.clone() for tensor in self.tensors))

    def detach(self) -> Structured:
        return Structured(self.names, tuple(tensor.detach() for tensor in self.tensors))

    def is_inference(self) -> bool:
        return any(tensor.is_inference() for tensor in self.tensors)

    def arguments(self) -> tuple[tuple[Tensor, ...], dict[str, Tensor]]:
        """What the model is called with."""
        pairs = list(zip(self.names, self.tensors, strict=True))
        return tuple(t for name, t in pairs if not name), {name: t for name, t in pairs if name}


def structured(given: Any) -> Structured | None:
    """Inputs as a structured batch, where they are a mapping, a sequence or whole numbers.

    None where they are neither.
    """
    if isinstance(given, Tensor):
        whole = given.dtype in (torch.int32, torch.int64)
        return Structured(("",), (given,)) if whole else None
    if isinstance(given, Mapping):
        items = list(given.items())
    elif isinstance(given, Sequence) and not isinstance(given, str):
        items = [("", tensor) for tensor in given]
    else:
        return None
    _check(items, type(given).__name__)
    return Structured(tuple(str(name) for name, _ in items), tuple(tensor for _, tensor in items))


def _check(items: list[tuple[Any, Any]], kind: str) -> None:
    if not items:
        raise ValueError(f"inputs must be tensors, got an empty {kind}")
    for name, value in items:
        what = repr(name) if name else "one of them"
        if not isinstance(value, Tensor):
            raise ValueError(
                f"inputs in a {kind} must be tensors, but {what} is a {type(value).__name__}; a "
                "tokenizer or processor gives them with return_tensors='pt'"
            )
        if name in ("labels", "label"):
            raise ValueError(f"adaptation sees no labels; leave {what} out of the inputs")
        if value.dim() < 1 or len(value) != len(items[0][1]) or not len(value):
            sizes = [tuple(tensor.shape) for _, tensor in items if isinstance(tensor, Tensor)]
            raise ValueError(
                "inputs in a "
                f"{kind} must be batches of one size, one sample or more, got shapes {sizes}"
            )


def joined_inputs(parts: list[Tensor]) -> Tensor:
    """One batch of all samples, of tensors or of structured batches."""
    first = parts[0]
    if not isinstance(first, Structured):
        return torch.cat(parts)
    columns = zip(*(part.tensors for part in parts), strict=True)
    return Structured(first.names, tuple(map(torch.cat, columns)))
