"""Refuse a batch that a stream cannot take, before anything changes."""

import torch
from torch import Tensor, nn

from trimtab.core.backbone import Backbone
from trimtab.core.finite import is_finite


def check(
    inputs: Tensor,
    backbone: Backbone,
    sample_shape: tuple[int, ...] | None,
    *,
    empty: bool = False,
) -> None:
    """Raise a ValueError that says what was expected and what came.

    Args:
        sample_shape: Shape of the stream's samples; None before the first batch.
        empty: Whether a batch may have no samples.
    """
    _check_kind(inputs)
    if inputs.dim() < 2 or (len(inputs) == 0 and not empty):
        shape = tuple(inputs.shape)
        raise ValueError(f"inputs must be a batch of at least one sample, got shape {shape}")
    if sample_shape is not None and tuple(inputs.shape[1:]) != sample_shape:
        expected = ", ".join(str(size) for size in ("batch", *sample_shape))
        raise ValueError(f"inputs must have shape ({expected}), got {tuple(inputs.shape)}")
    _check_type(inputs, backbone)
    if inputs.device != backbone.device:
        raise ValueError(f"inputs must be on {backbone.device}, got {inputs.device}")
    if not is_finite(inputs):
        bad = int((~torch.isfinite(inputs)).flatten(1).any(1).sum())
        raise ValueError(
            f"inputs must be finite, got {bad} of {len(inputs)} samples with NaN or inf"
        )


def _check_kind(inputs: Tensor) -> None:
    """Plain dense tensors with values, and nothing that only looks like one."""
    if not isinstance(inputs, Tensor):
        raise ValueError(f"inputs must be a tensor, got {type(inputs).__name__}")
    if type(inputs) not in (Tensor, nn.Parameter):
        name = type(inputs).__name__
        raise ValueError(
            f"inputs must be a plain tensor, got {name}; use .as_subclass(torch.Tensor)"
        )
    if inputs.is_meta:
        raise ValueError("inputs must have values, got a meta tensor, which has none")
    if inputs.layout != torch.strided:
        raise ValueError(f"inputs must be dense, got {inputs.layout}; use .to_dense()")


def _check_type(inputs: Tensor, backbone: Backbone) -> None:
    mixed = torch.is_autocast_enabled(inputs.device.type) and inputs.is_floating_point()
    if inputs.dtype != backbone.dtype and not mixed:
        hint = "; scale images to [0, 1] first" if inputs.dtype == torch.uint8 else ""
        raise ValueError(f"inputs must be {backbone.dtype}, got {inputs.dtype}{hint}")
