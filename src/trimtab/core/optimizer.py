"""Adam or SGD: which optimiser trains a stream, by the size of its images if nothing is said."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from trimtab.core.ranges import check_not_negative
from trimtab.image_size import is_small

Kind = Literal["adam", "sgd"]


Moments = Mapping[int, dict[str, Tensor]]
"""What an optimiser remembers of each tensor, by its place."""


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
        optimizer = self.bound(trained, _copied(moments), sample_shape)
        for group in optimizer.param_groups if rate != 1 else []:
            group["lr"] *= rate
        optimizer.step()
        return {
            place: {name: value for name, value in optimizer.state[t].items() if value is not None}
            for place, t in enumerate(trained)
            if optimizer.state.get(t)
        }

    def bound(
        self, trained: list[Tensor], moments: Moments, sample_shape: tuple[int, ...]
    ) -> torch.optim.Optimizer:
        """An optimiser of these tensors that goes on with these moments."""
        optimizer = self.build(trained, sample_shape)
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

    def build(
        self, params: Iterable[Tensor], sample_shape: tuple[int, ...]
    ) -> torch.optim.Optimizer:
        """A fresh optimiser for samples of this shape."""
        chosen = self.settings(sample_shape)
        decay = chosen.weight_decay
        if chosen.kind == "adam":
            betas = (chosen.momentum, 0.999)
            return torch.optim.Adam(
                params, lr=chosen.lr, betas=betas, weight_decay=decay, foreach=True
            )
        return torch.optim.SGD(
            params,
            lr=chosen.lr,
            momentum=chosen.momentum,
            nesterov=chosen.nesterov,
            weight_decay=decay,
            foreach=True,
        )


@dataclass(frozen=True)
class Settings:
    """What an optimiser works with; ``momentum`` is SGD's, or Adam's first beta."""

    kind: Kind
    lr: float
    momentum: float
    nesterov: bool
    weight_decay: float


def _copied(moments: Moments) -> Moments:
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
