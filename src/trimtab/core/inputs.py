"""Refuse a batch that a stream cannot take, before anything changes."""

import torch
from torch import Tensor, nn

from trimtab.core.advice import advise
from trimtab.core.backbone import Backbone
from trimtab.core.finite import is_finite

SLACK = 0.05
"""Resizing overshoots a little."""

LEAST_OF_8_BITS, MOST_OF_16_BITS = 16.0, 2.0**16
"""Largest values between these, without negative ones, are those of files and sensors."""


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
        hint = "; a single sample is x[None]" if inputs.numel() else ""
        raise ValueError(f"inputs must be a batch of at least one sample, got shape {shape}{hint}")
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


def check_first(inputs: Tensor, backbone: Backbone, augments: bool) -> None:
    """Refuse, or advise on, what only the first batch can show.

    Args:
        augments: Whether the method alters images, which must lie in [0, 1] for it.
    """
    if inputs.dim() <= 3 and not backbone.takes(inputs[:1]) and backbone.takes(inputs[None]):
        raise ValueError(
            f"inputs must be a batch, got one sample of shape {tuple(inputs.shape)}; add the batch "
            "dimension: x[None]"
        )
    if augments:
        _check_images(inputs)
        _check_range(inputs, backbone)


def _check_images(inputs: Tensor) -> None:
    if inputs.dim() != 4 or not inputs.is_floating_point():
        raise ValueError(
            "this method augments images of shape (batch, channels, height, width), got "
            f"{tuple(inputs.shape)}, {inputs.dtype}; pass augment= with a function that alters "
            "your kind of inputs, or use a method that augments nothing: 'tent', 'eata', 'sar', "
            "'lame', or 'roid' with consistency=False"
        )


def _check_range(inputs: Tensor, backbone: Backbone) -> None:
    """Augmentations clamp to [0, 1], so what is normalised otherwise comes back as nonsense."""
    known = backbone.normalization
    pixels = inputs if known is None else known.to_pixels(inputs)
    rows = pixels.flatten(1)  # judged by the sample in the middle: one may be broken
    low, high = round(rows.amin(1).median().item(), 2), round(rows.amax(1).median().item(), 2)
    if low >= -SLACK and high <= 1 + SLACK:
        return
    if known is not None:
        advise(
            f"with normalization={known}, pixels lie in [{low}, {high}] where they should lie in "
            "[0, 1]: augmentations will clamp them; pass the mean and std that your images were "
            "normalised with"
        )
    elif low >= 0 and LEAST_OF_8_BITS < high <= MOST_OF_16_BITS:
        raise ValueError(
            f"values lie in [{low}, {high}], and this method augments images in [0, 1]; divide "
            "them by 255, or pass normalization=(0, 1/255) where the model takes them as they are"
        )
    else:
        advise(
            f"values lie in [{low}, {high}], and this method augments images in [0, 1], so it will "
            "clamp them; pass normalization=(mean, std) as your images were normalised, or a name: "
            "'imagenet', 'cifar10', 'half', or 'model' for what a timm or torchvision model says"
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
