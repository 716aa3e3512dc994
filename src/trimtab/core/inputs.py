"""Admit a batch to a stream, or refuse it before anything changes."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn

from trimtab.core import component as roles
from trimtab.core.backbone import Backbone
from trimtab.core.finite import is_finite
from trimtab.core.pixel_range import check_range
from trimtab.core.structured import Structured, structured

if TYPE_CHECKING:
    from trimtab.core.method import Method
    from trimtab.core.state import StreamState


def admitted(
    given: Any, backbone: Backbone, method: Method, state: StreamState, *, empty: bool = False
) -> Tensor:
    """The batch as the engine takes it: a plain tensor, or structured inputs in its place.

    Raises a ValueError that says what was expected and what came.

    Args:
        empty: Whether a batch may have no samples.
    """
    batch = _understood(given, backbone)
    if isinstance(batch, Structured):
        for tensor in batch.tensors:
            _check_tensor(tensor, backbone)
        _check_structured(batch, method)
    else:
        _check_batch(batch, empty)
        _check_tensor(batch, backbone)
    inputs = cast(Tensor, batch)  # structured inputs have the verbs that the engine uses
    if state.sample_shape is None and len(inputs):
        _check_first(inputs, backbone, method)
    elif state.sample_shape is not None:
        _check_shape(inputs, backbone, method, state)
    if method.augments and state.shown.peak is None and len(inputs):  # also after a reset
        check_range(inputs, backbone.normalization)
    return inputs.clone() if inputs.is_inference() else inputs.detach()


def _understood(given: Any, backbone: Backbone) -> Tensor | Structured:
    batch = structured(given)
    if batch is None:
        if not isinstance(given, Tensor):
            raise ValueError(
                f"inputs must be a tensor, or a mapping or tuple of tensors, got "
                f"{type(given).__name__}"
            )
        return given
    alone = len(batch.names) == 1 and batch.tensors[0].is_floating_point()
    if alone and batch.names[0] in ("", _first_argument(backbone)):
        return batch.tensors[0]  # images of a processor: as good as a plain tensor
    return batch


def _first_argument(backbone: Backbone) -> str:
    return next(iter(inspect.signature(backbone.model.forward).parameters), "")


def _check_batch(inputs: Tensor, empty: bool) -> None:
    if inputs.dim() < 2 or (len(inputs) == 0 and not empty):
        shape = tuple(inputs.shape)
        hint = "; a single sample is x[None]" if inputs.numel() else ""
        raise ValueError(f"inputs must be a batch of at least one sample, got shape {shape}{hint}")


def _check_tensor(inputs: Tensor, backbone: Backbone) -> None:
    """Plain dense tensors with finite values of the right type on the right device."""
    if type(inputs) not in (Tensor, nn.Parameter):
        name = type(inputs).__name__
        raise ValueError(
            f"inputs must be a plain tensor, got {name}; use .as_subclass(torch.Tensor)"
        )
    if inputs.is_meta:
        raise ValueError("inputs must have values, got a meta tensor, which has none")
    if inputs.layout != torch.strided:
        raise ValueError(f"inputs must be dense, got {inputs.layout}; use .to_dense()")
    _check_type(inputs, backbone)
    if inputs.device != backbone.device:
        raise ValueError(f"inputs must be on {backbone.device}, got {inputs.device}")
    if not is_finite(inputs):
        bad = int((~torch.isfinite(inputs)).flatten(1).any(1).sum())
        raise ValueError(
            f"inputs must be finite, got {bad} of {len(inputs)} samples with NaN or inf"
        )


def _check_type(inputs: Tensor, backbone: Backbone) -> None:
    if inputs.dtype in (torch.int32, torch.int64, torch.bool):
        return  # tokens and masks; a network that takes none says so when the stream begins
    mixed = torch.is_autocast_enabled(inputs.device.type) and inputs.is_floating_point()
    if inputs.dtype != backbone.dtype and not mixed:
        hint = "; scale images to [0, 1] first" if inputs.dtype == torch.uint8 else ""
        raise ValueError(f"inputs must be {backbone.dtype}, got {inputs.dtype}{hint}")


def _check_structured(batch: Structured, method: Method) -> None:
    if method.playing(roles.Recall):
        raise ValueError(
            "this method stores samples, which must be plain tensors, got "
            f"{', '.join(batch.form.kinds)}; use one that does not: 'tent', 'eata', 'sar'"
        )
    if method.augments:
        pairs = zip(batch.names, batch.form.kinds, strict=True)
        _refuse_augmentation(", ".join(f"{name or 'a tensor'} of {kind}" for name, kind in pairs))


def _check_first(inputs: Tensor, backbone: Backbone, method: Method) -> None:
    """Refuse, or advise on, what only the first batch can show."""
    if isinstance(inputs, Structured):
        return
    if inputs.dim() <= 3 and not backbone.takes(inputs[:1]) and backbone.takes(inputs[None]):
        raise ValueError(
            f"inputs must be a batch, got one sample of shape {tuple(inputs.shape)}; add the batch "
            "dimension: x[None]"
        )
    if method.augments and inputs.dim() != 4:
        _refuse_augmentation(f"{tuple(inputs.shape)}")


def _refuse_augmentation(came: str) -> None:
    raise ValueError(
        f"this method augments images of shape (batch, channels, height, width), got {came}; pass "
        "augment= with a function that alters your kind of inputs, or use a method that augments "
        "nothing: 'tent', 'eata', 'sar', 'lame', or 'roid' with consistency=False"
    )


def _check_shape(inputs: Tensor, backbone: Backbone, method: Method, state: StreamState) -> None:
    """Other sizes are fine where the network takes them and nothing of the old size is stored."""
    form = inputs.form if isinstance(inputs, Structured) else None
    same_kind = form == state.form or (form and state.form and form.fits(state.form))
    shape, known = tuple(inputs.shape[1:]), state.sample_shape
    if form == state.form and shape == known:
        return
    expected = ", ".join(str(size) for size in ("batch", *(known or ())))
    refusal = f"inputs must have shape ({expected}), got {tuple(inputs.shape)}"
    if not same_kind:
        raise ValueError(f"{refusal}, {form}: other kinds of inputs than those of this stream")
    if len(shape) != len(known or ()) or not backbone.takes_shape(inputs[:1]):
        raise ValueError(refusal)
    if method.playing(roles.Recall) or state.window.size is not None:
        raise ValueError(f"{refusal}; this stream stores samples, which must be of one shape")
