"""ImageNet variants with fewer classes: which of the 1000 logits each of them keeps."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from trimtab.imagenet_classes import IMAGENET_D109, IMAGENET_R

MASKS = {"imagenet_r": IMAGENET_R, "imagenet_d109": tuple(IMAGENET_D109.values())}
"""By dataset: label ``i`` is ImageNet's class ``MASKS[dataset][i]``."""


class Masked(nn.Module):
    """A network that keeps the logits of ``classes``, in that order."""

    classes: Tensor

    def __init__(self, model: nn.Module, classes: Sequence[int]) -> None:
        super().__init__()
        self.model = model
        self.register_buffer("classes", torch.tensor(classes), persistent=False)

    def forward(self, inputs: Tensor) -> Tensor:
        return self.model(inputs)[:, self.classes]  # type: ignore[no-any-return]
