"""A blank sample: what a network is tried with before the first real one has come."""

import math
from typing import cast

import torch
from torch import Tensor

from trimtab.core.backbone import Backbone
from trimtab.core.structured import Form

MOST_VALUES = 2**26
"""Of one sample. A larger one is a mistake, or a file that asks for all of the memory."""

Sample = tuple[int, ...] | Form
"""What one sample looks like: its shape, or the form of a structured one."""


def blank_like(backbone: Backbone, sample: Sample) -> Tensor:
    """One sample of zeros, (1, ...)."""
    for shape in sample.shapes if isinstance(sample, Form) else (sample,):
        if math.prod(shape) > MOST_VALUES:
            raise ValueError(
                f"a sample may have {MOST_VALUES} values at most, got shape {shape}; resize it"
            )
    if isinstance(sample, Form):
        return cast(Tensor, sample.blank(backbone.device))
    return torch.zeros(1, *sample, dtype=backbone.dtype, device=backbone.device)
