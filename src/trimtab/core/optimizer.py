"""Adam or SGD: which optimiser trains a stream, by the size of its images if nothing is said.

Steps are torch's functional ones: its optimiser classes import the compiler when they are first
made, which takes a process longer than to import torch itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.optim.adam import adam
from torch.optim.sgd import sgd

from trimtab.core.ranges import check_not_negative
from trimtab.image_size import is_small

Kind = Literal["adam", "sgd"]


Moments = Mapping[int, dict[str, Tensor]]
"""What an optimiser remembers of each tensor, by its place."""

ADAM_BETA2, ADAM_EPS = 0.999, 1e-8
"""As torch's Adam has them."""


@dataclass(frozen=True)
class OptimizerChoice:
    """Adam for small images (up to 64 px a side), SGD with Nesterov momentum for larger ones.

    Args:
        kind: ``"adam"`` or ``"sgd"``; None decides by the images.
        lr: Learning rate of either; None takes the kind's own.
        adam_lr: Adam's learning rate where ``lr`` does not say.
        sgd_lr: SGD's learning rate where ``lr`` does not say.
        small_sgd_lr: The same for small images; None takes ``sgd_lr``.
        momentum: SGD's, and Adam's first beta.
        nesterov: Whether SGD looks ahead.
    """

    kind: Kind | None = None
    lr: float | None = None
    adam_lr: float = 1e-3
    sgd_lr: float = 2.5e-4
    small_sgd_lr: float | None = None
    momentum: float = 0.9
    nesterov: bool = True
    weight_decay: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in (None, "adam", "sgd"):
            raise ValueError(f"optimizer must be 'adam' or 'sgd', got {self.kind!r}")
        check_not_negative(self, "lr")

    def step(
        self, trained: list[Tensor], moments: Moments, sample_shape: tuple[int, ...], rate: float
    ) -> Moments:
        """Move tensors along their gradients, in place; what to remember until the next step.

        Args:
            moments: What the step before has returned; it stays as it is.
            rate: Factor on the learning rate.
        """
        chosen = self.settings(sample_shape)
        moving = {place: t for place, t in enumerate(trained) if t.grad is not None}
        kept = _copied(moments)
        fresh = {place: kept.get(place, {}) for place in moving}
        lr = chosen.lr * rate
        (_adam if chosen.kind == "adam" else _sgd)(moving, fresh, chosen, lr)
        return {place: values for place, values in sorted({**kept, **fresh}.items()) if values}

    def bound(
        self, trained: list[Tensor], moments: Moments, sample_shape: tuple[int, ...]
    ) -> torch.optim.Optimizer:
        """One of torch's optimisers that would go on with these moments, for people to look at."""
        chosen = self.settings(sample_shape)
        decay, betas = chosen.weight_decay, (chosen.momentum, ADAM_BETA2)
        optimizer: torch.optim.Optimizer
        if chosen.kind == "adam":
            optimizer = torch.optim.Adam(
                trained, lr=chosen.lr, betas=betas, weight_decay=decay, foreach=True
            )
        else:
            optimizer = torch.optim.SGD(
                trained,
                lr=chosen.lr,
                momentum=chosen.momentum,
                nesterov=chosen.nesterov,
                weight_decay=decay,
                foreach=True,
            )
        for place, values in moments.items():
            optimizer.state[trained[place]] = values
        return optimizer

    def slots(self, tensor: Tensor, sample_shape: tuple[int, ...]) -> dict[str, Tensor]:
        """What the optimiser remembers of a tensor, with its shapes and types."""
        blank = torch.zeros_like(tensor, requires_grad=False)
        if self.settings(sample_shape).kind == "adam":
            return {"step": torch.tensor(0.0), "exp_avg": blank, "exp_avg_sq": blank}
        return {"momentum_buffer": blank} if self.momentum else {}

    def settings(self, sample_shape: tuple[int, ...]) -> "Settings":
        """All that decides a step, for samples of this shape."""
        small = is_small(sample_shape)
        kind: Kind = self.kind or ("adam" if small else "sgd")
        lr = self.sgd_lr if self.small_sgd_lr is None or not small else self.small_sgd_lr
        lr = self.adam_lr if kind == "adam" else lr
        return Settings(
            kind,
            lr if self.lr is None else self.lr,
            self.momentum,
            self.nesterov and self.momentum > 0,
            self.weight_decay,
        )


@dataclass(frozen=True)
class Settings:
    """What an optimiser works with; ``momentum`` is SGD's, or Adam's first beta."""

    kind: Kind
    lr: float
    momentum: float
    nesterov: bool
    weight_decay: float


def _adam(moving: Mapping[int, Tensor], moments: Moments, chosen: Settings, lr: float) -> None:
    """Adam as torch computes it; moments are filled in where there are none yet."""
    for place, tensor in moving.items():
        if not moments[place]:
            moments[place]["step"] = torch.tensor(0.0)
            moments[place]["exp_avg"] = torch.zeros_like(tensor, requires_grad=False)
            moments[place]["exp_avg_sq"] = torch.zeros_like(tensor, requires_grad=False)
    adam(
        list(moving.values()),
        _gradients(moving),
        [moments[place]["exp_avg"] for place in moving],
        [moments[place]["exp_avg_sq"] for place in moving],
        [],
        [moments[place]["step"] for place in moving],
        foreach=True,
        amsgrad=False,
        beta1=chosen.momentum,
        beta2=ADAM_BETA2,
        lr=lr,
        weight_decay=chosen.weight_decay,
        eps=ADAM_EPS,
        maximize=False,
    )


def _sgd(moving: Mapping[int, Tensor], moments: Moments, chosen: Settings, lr: float) -> None:
    """SGD as torch computes it; momentum begins with the first gradient."""
    buffers = [moments[place].get("momentum_buffer") for place in moving]
    sgd(
        list(moving.values()),
        _gradients(moving),
        buffers,
        foreach=True,
        weight_decay=chosen.weight_decay,
        momentum=chosen.momentum,
        lr=lr,
        dampening=0.0,
        nesterov=chosen.nesterov,
        maximize=False,
    )
    for place, buffer in zip(moving, buffers, strict=True):
        if buffer is not None:
            moments[place]["momentum_buffer"] = buffer


def _gradients(moving: Mapping[int, Tensor]) -> list[Tensor]:
    return [tensor.grad for tensor in moving.values() if tensor.grad is not None]


def _copied(moments: Moments) -> dict[int, dict[str, Tensor]]:
    """Copies in few operations, however many tensors there are."""
    names = sorted({name for values in moments.values() for name in values})
    copies: dict[int, dict[str, Tensor]] = {place: {} for place in moments}
    for name in names:
        places = [place for place, values in moments.items() if name in values]
        for place, copy in zip(places, _together([moments[p][name] for p in places]), strict=True):
            copies[place][name] = copy
    return copies


def _together(tensors: list[Tensor]) -> list[Tensor]:
    """Copies; those of tensors of one shape are parts of one block of memory."""
    shapes: dict[torch.Size, list[int]] = {}
    for place, tensor in enumerate(tensors):
        shapes.setdefault(tensor.shape, []).append(place)
    copies: dict[int, Tensor] = {}
    for places in shapes.values():
        block = torch.stack([tensors[place] for place in places])
        copies |= dict(zip(places, block.unbind(), strict=True))
    return [copies[place] for place in range(len(tensors))]
