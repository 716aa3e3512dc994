"""Kalman filtering of the weights, which stay near its estimate (CMF, ICLR 2024)."""

from dataclasses import dataclass

import torch

from trimtab.core.backbone import Tensors
from trimtab.core.component import ParameterRule, Start
from trimtab.core.ranges import check_shares
from trimtab.functional import full_copy

PARAMETERS_OF_VIT_B = 38_400
"""Trained parameters of the network that ``noise`` is given for."""


@dataclass(frozen=True)
class KalmanEnsembling(ParameterRule):
    """Pull the weights towards a hidden model between the source and all weights so far.

    The hidden model drifts back to the source, and each update's weights are a noisy sight of it.
    One variance describes all of its parameters.

    Args:
        momentum: Share of the weights that stays, the rest comes from the hidden model.
        source_momentum: Share of the hidden model that stays, the rest comes from the source.
        noise: Process noise of a network of 38,400 trained parameters; that of others is in
            proportion to their number. What is missing to 1 is the noise of the sight.
        min_momentum: Least share of the hidden model that stays at a sight of the weights.
    """

    momentum: float = 0.99
    source_momentum: float = 0.99
    noise: float = 0.005
    min_momentum: float = 0.89

    dense = True

    def __post_init__(self) -> None:
        check_shares(self, "momentum", "source_momentum", "noise", "min_momentum")

    def new_memory(self, start: Start) -> Tensors:
        hidden = {f"hidden.{name}": full_copy(value) for name, value in start.source.items()}
        variance = torch.zeros((), dtype=torch.float64, device=start.device)
        return {**hidden, "variance": variance}

    def after_update(self, params: Tensors, source: Tensors, memory: Tensors) -> None:
        stays = self.gain(sum(param.numel() for param in params.values()), memory)
        for name, param in params.items():
            hidden = memory[f"hidden.{name}"]
            hidden.lerp_(source[name].to(hidden.dtype), 1 - self.source_momentum)
            hidden.lerp_(param.to(hidden.dtype), 1 - stays)
            param.lerp_(hidden.to(param.dtype), 1 - self.momentum)

    def gain(self, parameters: int, memory: Tensors) -> float:
        """Share of the hidden model that stays; moves its variance on."""
        # One half at most: what is missing to 1 is the noise of the sight, which must not vanish.
        noise = min(self.noise * parameters / PARAMETERS_OF_VIT_B, 0.5)
        predicted = self.source_momentum**2 * float(memory["variance"]) + noise
        stays = max((1 - noise) / (predicted + 1 - noise), self.min_momentum)
        stays = 1.0 if stays >= 0.9999 else stays
        memory["variance"].fill_(stays * predicted)
        return stays
