"""Weight ensembling: pull adapted weights back to the source (ROID, arXiv:2306.00650)."""

from dataclasses import dataclass

import torch

from trimtab.core.backbone import Tensors
from trimtab.core.component import ParameterRule
from trimtab.core.ranges import check_shares


@dataclass(frozen=True)
class SourceEnsembling(ParameterRule):
    """After each update keep ``momentum`` of the weights and take the rest from the source.

    Bounds drift: were there no more gradients, the distance to the source would shrink by
    ``momentum`` an update.
    """

    momentum: float = 0.99

    pulls_to_source = True
    dense = True

    def __post_init__(self) -> None:
        check_shares(self, "momentum")

    def after_update(self, params: Tensors, source: Tensors, memory: Tensors) -> None:
        targets = [
            source[name] if source[name].dtype == param.dtype else source[name].to(param.dtype)
            for name, param in params.items()
        ]
        torch._foreach_lerp_(list(params.values()), targets, 1 - self.momentum)
