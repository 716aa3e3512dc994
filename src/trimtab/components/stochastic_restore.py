"""Stochastic restoration of single source weights (CoTTA, arXiv:2203.13591)."""

from dataclasses import dataclass

import torch

from trimtab.core.backbone import Tensors
from trimtab.core.component import ParameterRule, Start
from trimtab.core.ranges import check_shares
from trimtab.image_size import is_small


@dataclass(frozen=True)
class StochasticRestore(ParameterRule):
    """After each update, set each weight back to its source value with a small probability.

    Args:
        probability: Of each weight; None takes 0.01 for images of up to 64 px a side, 0.001 for
            larger ones.
    """

    probability: float | None = None

    pulls_to_source = True
    dense = True

    def __post_init__(self) -> None:
        check_shares(self, "probability")

    def new_memory(self, start: Start) -> Tensors:
        """The probability, and the state of a random generator of its own."""
        seed = int(torch.randint(2**62, (), generator=start.generator))
        probability = self.probability
        if probability is None:
            probability = 0.01 if is_small(start.sample_shape) else 0.001
        return {
            "probability": torch.tensor(probability),
            "generator": torch.Generator().manual_seed(seed).get_state(),
        }

    def after_update(self, params: Tensors, source: Tensors, memory: Tensors) -> None:
        generator = torch.Generator()
        generator.set_state(memory["generator"].cpu())
        probability = float(memory["probability"])
        for name, param in params.items():
            restored = torch.rand(param.shape, generator=generator) < probability
            param.copy_(torch.where(restored.to(param.device), source[name].to(param), param))
        memory["generator"] = generator.get_state()
