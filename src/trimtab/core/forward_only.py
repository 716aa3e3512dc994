"""Forward passes only: callables that predict and let no gradient through, as backbones.

TorchScript, programs of torch.export, sessions of other runtimes, or plain functions. Methods that
train nothing adapt them; others refuse.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from trimtab.core.backbone import Backbone
from trimtab.core.outputs import Output

Head = nn.Linear | tuple[Tensor, Tensor | None]
"""A linear classifier: the layer, or its weight (classes, features) and bias."""


class ForwardOnly(nn.Module):
    """A callable as a module.

    Args:
        function: Maps a batch to logits, to logits and features, or, where there is a ``head``, to
            the head's input.
        head: The classifier, where it is made here.
        identity: What tells the callable from others, in saved states.
    """

    identity: Tensor

    def __init__(
        self, function: Callable[[Tensor], Any], head: nn.Linear | None, identity: bytes
    ) -> None:
        super().__init__()
        # In a list it is no submodule, whatever it is.
        self.function: list[Callable[[Tensor], Any]] = [function]
        self.head = head
        self.features: nn.Identity = nn.Identity()
        digest = bytearray(hashlib.sha256(identity).digest())
        self.register_buffer("identity", torch.frombuffer(digest, dtype=torch.uint8))

    def forward(self, inputs: Tensor) -> Any:
        with torch.no_grad():
            returned = self.function[0](inputs)
            if self.head is not None:
                return self.head(returned.to(self.head.weight.dtype))
            if isinstance(returned, tuple) and len(returned) == 2:
                logits, features = returned
                self.features(features)
                return logits
            return returned

    def __deepcopy__(self, memo: dict[int, Any]) -> ForwardOnly:
        """A copy around the same callable."""
        twin = type(self)(self.function[0], copy.deepcopy(self.head, memo), b"")
        twin.identity = copy.deepcopy(self.identity, memo)
        return twin


class ForwardBackbone(Backbone):
    """A callable that predicts without gradients, adapted by methods that train nothing.

    ``"neo"``, ``"t3a"``, ``"lame"``, ``"source + temporal_prior"`` and the like.

    Args:
        function: Maps a batch to logits (batch, classes); or to a pair of logits and features
            (batch, features); or, with ``head``, to the head's input.
        head: The linear classifier, as a layer or as (weight, bias): methods that work on it need
            to know it.
        num_classes: Checked against the logits; found from the first batch when not given.
        identity: What tells this model from others; saved states of another one are refused.
        device: Where the callable takes its inputs.
        normalization: How inputs come to be what the model takes, as for a Backbone.
        output: Where logits are in what the callable returns, as for a Backbone.
        what: Why nothing can be trained here, for messages.
    """

    def __init__(
        self,
        function: Callable[[Tensor], Any],
        head: Head | None = None,
        num_classes: int | None = None,
        *,
        identity: bytes | None = None,
        device: torch.device | str = "cpu",
        normalization: Any = None,
        output: Output = None,
        what: str | None = None,
    ) -> None:
        if not callable(function):
            raise ValueError(f"function must be callable, got {type(function).__name__}")
        if identity is None:
            identity = _identity_of(function)
        layer = None if head is None else _layer(head)
        model = ForwardOnly(function, layer, identity).to(device)
        classifier = "features" if head is None else "head"
        super().__init__(model, num_classes, classifier, normalization=normalization, output=output)
        self.untrainable: str = what or f"{type(function).__name__} makes forward passes only"


def _layer(head: Head) -> nn.Linear:
    if isinstance(head, nn.Linear):
        return head
    if not isinstance(head, (tuple, list)) or len(head) != 2:
        kind = type(head).__name__
        raise ValueError(f"head must be an nn.Linear or a pair (weight, bias), got {kind}")
    weight, bias = head
    layer = nn.Linear(weight.shape[1], weight.shape[0], bias is not None, dtype=weight.dtype)
    with torch.no_grad():
        layer.weight.copy_(weight)
        if bias is not None:
            layer.bias.copy_(bias)
    return layer


def _identity_of(function: Any) -> bytes:
    """Names, shapes and values of a module's tensors; of a plain function, its name."""
    if not isinstance(function, nn.Module):
        return getattr(function, "__qualname__", type(function).__qualname__).encode()
    parts = [type(function).__qualname__.encode()]
    for name, tensor in function.state_dict().items():
        parts.append(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        parts.append(
            tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes()
        )
    return b"\n".join(parts)
