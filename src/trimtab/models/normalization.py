"""Input normalisation as a layer, so that every network takes images in [0, 1]."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn


class Normalize(nn.Module):
    """Subtracts ``mean`` and divides by ``std``, channel by channel.

    The two are not part of the state dict: a checkpoint fits with and without this layer.
    """

    mean: Tensor
    std: Tensor

    def __init__(self, mean: Sequence[float], std: Sequence[float]) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor(mean).view(1, -1, 1, 1), persistent=False)
        self.register_buffer("std", torch.tensor(std).view(1, -1, 1, 1), persistent=False)

    def forward(self, inputs: Tensor) -> Tensor:
        return (inputs - self.mean) / self.std


class Normalized(nn.Module):
    """A network behind its input normalisation: ``model`` sees what it was trained on."""

    def __init__(self, model: nn.Module, mean: Sequence[float], std: Sequence[float]) -> None:
        super().__init__()
        self.normalize: Normalize = Normalize(mean, std)
        self.model = model

    def forward(self, inputs: Tensor) -> Tensor:
        return self.model(self.normalize(inputs))  # type: ignore[no-any-return]
