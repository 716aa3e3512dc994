"""How inputs look at a glance: enough to notice that they come from another domain now."""

from typing import NamedTuple

import torch
from torch import Tensor

FEWEST_SAMPLES = 8
"""Fewer do not tell how much samples of one domain differ."""


class Appearance(NamedTuple):
    """Brightness, contrast and detail of a batch: their means and variances, shape (3,) each."""

    mean: Tensor
    variance: Tensor


def appearance(inputs: Tensor) -> Appearance | None:
    """How a batch looks; None if it is too small to tell, or not finite."""
    if len(inputs) < FEWEST_SAMPLES:
        return None
    values = inputs.float()
    variance, brightness = torch.var_mean(values.flatten(1), 1, correction=0)
    steps = (values[..., 1:] - values[..., :-1]).abs_().flatten(1)
    detail = steps.mean(1) if steps.shape[1] else torch.zeros_like(brightness)  # a single column
    looks = torch.stack([brightness, variance.sqrt(), detail], 1)
    found = Appearance(looks.mean(0), looks.var(0))
    return found if bool(torch.cat(found).isfinite().all()) else None


def distance(left: Appearance, right: Appearance) -> float:
    """How far two batches are apart, in standard deviations of a sample, where they differ most."""
    spread = ((left.variance + right.variance) / 2).clamp(min=1e-12).sqrt()
    return float(((left.mean - right.mean).abs() / spread).max())
