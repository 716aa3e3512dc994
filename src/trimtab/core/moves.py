"""Steps of an optimiser, of one stream or of many in few operations.

The moments of many streams are stacked, a row for each, while they move; each stream has its own
count of steps.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from trimtab.core.finite import all_finite
from trimtab.core.moment_rows import MomentRows, layout_of, split
from trimtab.core.optimizer import ADAM_BETA2, ADAM_EPS, Moments, OptimizerChoice, Settings

MOST_VALUES = 2**20
"""Of one stream's trained tensors; larger ones are dearer to stack than to move one by one."""


@dataclass(frozen=True, eq=False)
class Move:
    """One step of an optimiser that a stream asks for.

    Args:
        trained: Tensors with their gradients; they stay as they are.
        moments: What the step before has returned; it stays as it is.
        rate: Factor on the learning rate.
        scale: What the gradients are to be divided by.
        row: All values of the trained tensors one after the other, where they lie so.
        row_gradient: Their gradients one after the other, in the place of those in ``grad``.
    """

    choice: OptimizerChoice
    trained: list[Tensor]
    moments: Moments
    sample_shape: tuple[int, ...]
    rate: float = 1.0
    scale: float = 1.0
    row: Tensor | None = None
    row_gradient: Tensor | None = None

    @property
    def kind(self) -> Hashable:
        """Moves of one kind can be made as one; None for a move that cannot."""
        trained, dtype = self.trained, self.trained[0].dtype
        if len(self.moments) not in (0, len(trained)) or not self._is_alike(dtype):
            return None
        shapes = tuple([tensor.shape for tensor in trained])
        if sum(layout_of(shapes).sizes) > MOST_VALUES:
            return None
        settings = self.choice.settings(self.sample_shape)
        return (settings, dtype, trained[0].device, shapes)

    def _is_alike(self, dtype: torch.dtype) -> bool:
        """Whether all tensors are of one type, and have gradients of it."""
        if self.row is not None and self.row_gradient is not None:
            return self.row_gradient.dtype == self.row.dtype == dtype
        grads = [tensor.grad for tensor in self.trained]
        return self.row_gradient is None and all(
            g is not None and g.dtype == dtype == t.dtype
            for g, t in zip(grads, self.trained, strict=True)
        )

    def spread(self) -> Move:
        """The same with all gradients in ``grad``."""
        if self.row_gradient is None:
            return self
        shapes = tuple([tensor.shape for tensor in self.trained])
        for tensor, grad in zip(self.trained, split(self.row_gradient, shapes), strict=True):
            tensor.grad = grad if tensor.grad is None else tensor.grad + grad
        return replace(self, row_gradient=None)


@dataclass(frozen=True, eq=False)
class Moved:
    """Where a step has led: new tensors, ready to be trained, and what to remember.

    Args:
        row: The tensors' values one after the other, where they lie so.
    """

    tensors: list[Tensor]
    moments: Moments
    finite: bool
    row: Tensor | None = None


@torch.no_grad()
def move(asked: Move) -> Moved | None:
    """One stream's step; None where its gradients are not finite."""
    asked = asked.spread()
    grads = [tensor.grad for tensor in asked.trained if tensor.grad is not None]
    if not all_finite(grads):
        return None
    ahead = [tensor.clone().requires_grad_() for tensor in asked.trained]
    for twin, tensor in zip(ahead, asked.trained, strict=True):
        if tensor.grad is not None:
            twin.grad = tensor.grad if asked.scale == 1 else tensor.grad / asked.scale
    moments = asked.choice.step(ahead, asked.moments, asked.sample_shape, asked.rate)
    for twin in ahead:
        twin.grad = None
    return Moved(ahead, moments, all_finite(ahead))


@torch.no_grad()
def move_together(asked: Sequence[Move]) -> list[Moved | None]:
    """The steps of many streams, all of one kind, in few operations."""
    first = asked[0]
    settings = first.choice.settings(first.sample_shape)
    values, grads = _values(asked), _gradients(asked)
    if any(move.scale != 1 for move in asked):
        grads = grads / _each([move.scale for move in asked], grads)
    sound = _finite_rows(grads)
    if settings.weight_decay:
        grads = grads.add(values, alpha=settings.weight_decay)
    rates = [settings.lr * move.rate for move in asked]
    stepped = (_adam if settings.kind == "adam" else _sgd)(asked, values, grads, rates, settings)
    finite = _finite_rows(stepped.values)
    return [
        _moved(move, stepped, place, finite[place]) if sound[place] else None
        for place, move in enumerate(asked)
    ]


@dataclass(frozen=True)
class _Stepped:
    """All streams' new values and moments, a row for each, and their counts of steps."""

    values: Tensor
    moments: dict[str, Tensor]
    steps: list[float] | None = None


def _adam(
    asked: Sequence[Move], values: Tensor, grads: Tensor, rates: list[float], settings: Settings
) -> _Stepped:
    steps = [_steps(move) + 1 for move in asked]
    mean = _moments(asked, "exp_avg", grads).lerp_(grads, 1 - settings.momentum)
    square = _moments(asked, "exp_avg_sq", grads).mul_(ADAM_BETA2)
    square.addcmul_(grads, grads, value=1 - ADAM_BETA2)
    root_shares = _each([(1 - ADAM_BETA2**step) ** 0.5 for step in steps], values)
    spread = square.sqrt().div_(root_shares).add_(ADAM_EPS)
    sizes = [rate / (1 - settings.momentum**step) for rate, step in zip(rates, steps, strict=True)]
    size = _each(sizes, values)
    if isinstance(size, float):
        values = values.addcdiv(mean, spread, value=-size)
    else:
        values = values.addcmul(mean / spread, size, value=-1)
    return _Stepped(values, {"exp_avg": mean, "exp_avg_sq": square}, steps)


def _sgd(
    asked: Sequence[Move], values: Tensor, grads: Tensor, rates: list[float], settings: Settings
) -> _Stepped:
    moments, along = {}, grads
    if settings.momentum:
        velocity = _moments(asked, "momentum_buffer", grads).mul_(settings.momentum).add_(grads)
        along = grads.add(velocity, alpha=settings.momentum) if settings.nesterov else velocity
        moments["momentum_buffer"] = velocity
    rate = _each(rates, values)
    if isinstance(rate, float):
        return _Stepped(values.add(along, alpha=-rate), moments)
    return _Stepped(values.addcmul(along, rate, value=-1), moments)


def _moved(asked: Move, stepped: _Stepped, place: int, finite: bool) -> Moved:
    """One stream's row, in memory of its own."""
    shapes = tuple([tensor.shape for tensor in asked.trained])
    steps = None if stepped.steps is None else stepped.steps[place]
    rows = {name: rows[place].clone() for name, rows in stepped.moments.items()}
    row = stepped.values[place].clone()
    tensors = [part.requires_grad_() for part in split(row, shapes)]
    return Moved(tensors, MomentRows(rows, shapes, steps) if rows else {}, finite, row)


def _values(asked: Sequence[Move]) -> Tensor:
    """What the streams train, a row for each."""
    rows = [move.row for move in asked if move.row is not None]
    return torch.stack(rows) if len(rows) == len(asked) else _rows([m.trained for m in asked])


def _gradients(asked: Sequence[Move]) -> Tensor:
    """The gradients of the same."""
    rows = [move.row_gradient for move in asked if move.row_gradient is not None]
    if len(rows) == len(asked):
        return torch.stack(rows)
    spread = [move.spread() for move in asked]
    return _rows([[t.grad for t in move.trained if t.grad is not None] for move in spread])


def _rows(streams: Sequence[Sequence[Tensor]]) -> Tensor:
    """All tensors of each stream one after the other, a row for each stream."""
    flat = [t for tensors in streams for t in tensors]
    if any(len(tensor.shape) != 1 for tensor in streams[0]):
        flat = [tensor.reshape(-1) for tensor in flat]
    return torch.cat(flat).view(len(streams), -1)


def _moments(asked: Sequence[Move], name: str, like: Tensor) -> Tensor:
    """What streams remember, a row for each; zeros for those that have not moved yet."""
    return torch.stack([_moment(move, name, like) for move in asked])


def _moment(asked: Move, name: str, like: Tensor) -> Tensor:
    if isinstance(asked.moments, MomentRows):
        return asked.moments.rows[name]
    if asked.moments:
        return _rows([[values[name] for values in asked.moments.values()]])[0]
    return torch.zeros_like(like[0])


def _steps(asked: Move) -> float:
    """How many steps a stream has made."""
    if isinstance(asked.moments, MomentRows):
        return asked.moments.steps or 0.0
    return float(asked.moments[0]["step"]) if asked.moments else 0.0


def _each(numbers: list[float], like: Tensor) -> Tensor | float:
    """A number for each row, or one where all are equal."""
    if len(set(numbers)) == 1:
        return numbers[0]
    return torch.tensor(numbers, dtype=like.dtype, device=like.device)[:, None]


def _finite_rows(rows: Tensor) -> list[bool]:
    """Which rows have no NaN and no infinite value."""
    low, high = rows.aminmax(dim=1)
    finite: list[bool] = (low.isfinite() & high.isfinite()).tolist()
    return finite
