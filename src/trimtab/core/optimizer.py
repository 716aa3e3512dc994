"""Which optimiser trains a stream, chosen by the size of its images where nothing else is said."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

Kind = Literal["adam", "sgd"]

SMALL_IMAGE_SIDE = 64
"""Images of up to this many pixels a side are small: the literature adapts them with Adam."""


@dataclass(frozen=True)
class OptimizerChoice:
    """Adam for images of up to 64 px a side, SGD for larger ones, unless a kind is given.

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
        if self.lr is not None and not self.lr >= 0:
            raise ValueError(f"lr must be 0 or more, got {self.lr}")

    def build(
        self, params: Iterable[Tensor], sample_shape: tuple[int, ...]
    ) -> torch.optim.Optimizer:
        """A fresh optimiser for samples of this shape."""
        kind = self.kind or ("adam" if is_small(sample_shape) else "sgd")
        decay = self.weight_decay
        if kind == "adam":
            lr = self.adam_lr if self.lr is None else self.lr
            betas = (self.momentum, 0.999)
            return torch.optim.Adam(params, lr=lr, betas=betas, weight_decay=decay, foreach=True)
        default = self.sgd_lr
        if self.small_sgd_lr is not None and is_small(sample_shape):
            default = self.small_sgd_lr
        return torch.optim.SGD(
            params,
            lr=default if self.lr is None else self.lr,
            momentum=self.momentum,
            nesterov=self.nesterov and self.momentum > 0,
            weight_decay=decay,
            foreach=True,
        )


def is_small(sample_shape: tuple[int, ...]) -> bool:
    """Whether samples of this shape are small images, or no images at all."""
    return len(sample_shape) < 3 or max(sample_shape[-2:]) <= SMALL_IMAGE_SIDE
