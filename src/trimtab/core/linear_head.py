"""The linear classifier of a network, for components that work on its rows."""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from trimtab.core.component import NAME_FEATURES, Start
from trimtab.functional import full_copy


class LinearHead(NamedTuple):
    """Weight (classes, features) and bias (classes,) of a classifier, float32 at least."""

    weight: Tensor
    bias: Tensor


def width_of_features(start: Start, component: str) -> int:
    """Width of the classifier's input; a model without one is refused."""
    if start.num_features is None:
        raise ValueError(
            f"{component} needs features, and the model runs no linear layer whose "
            f"input could serve; {NAME_FEATURES}"
        )
    return start.num_features


def linear_head(start: Start, component: str) -> LinearHead:
    """Copies of the source classifier's weight and bias; zeros where it has no bias.

    A classifier that does not map features to one number for each class by a weight is refused.
    """
    expected = (start.num_classes, width_of_features(start, component))
    weight = _dequantised(getattr(start.backbone.classifier, "weight", None))
    if not isinstance(weight, Tensor) or tuple(weight.shape) != expected:
        found = f"weights of shape {tuple(weight.shape)}" if isinstance(weight, Tensor) else "none"
        raise ValueError(
            f"{component} needs a linear classifier with weights of shape {expected}, (classes, "
            f"features), got {found}; name the module that makes logits with classifier="
        )
    own = _dequantised(getattr(start.backbone.classifier, "bias", None))
    bias = own if isinstance(own, Tensor) else torch.zeros_like(weight[:, 0])
    return LinearHead(full_copy(weight.detach()), full_copy(bias.detach()))


def _dequantised(value: Any) -> Any:
    """A layer's tensor; quantised layers have functions that give theirs."""
    found = value() if callable(value) and not isinstance(value, Tensor) else value
    return found.dequantize() if isinstance(found, Tensor) and found.is_quantized else found
