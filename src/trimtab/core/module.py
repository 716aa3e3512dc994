"""A stream as a module of torch, for pipelines that take one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from trimtab.core.structured import Given

if TYPE_CHECKING:
    from trimtab.core.adapter import Adapter


class StreamModule(nn.Module):
    """Calls an adapter: ``forward(x)`` is ``adapter(x)``, in training and evaluation mode alike.

    Adaptation happens while predicting, so ``eval()`` does not stop it; ``learn=False`` does. It
    has no parameters that an optimiser could train; its state dict holds the stream's state. It
    stays where the backbone is: ``to`` another device or type is refused.

    Args:
        learn: Whether calls learn; otherwise they are ``adapter.predict(x)``.
    """

    def __init__(self, adapter: Adapter, learn: bool = True) -> None:
        super().__init__()
        self.adapter = adapter
        self.learn = learn

    def forward(self, inputs: Given) -> Tensor:
        return self.adapter(inputs) if self.learn else self.adapter.predict(inputs)

    def extra_repr(self) -> str:
        return f"{self.adapter!r}, learn={self.learn}"

    def get_extra_state(self) -> dict[str, Any]:
        """The stream's state, as part of this module's state dict."""
        return self.adapter.state_dict()

    def set_extra_state(self, state: dict[str, Any]) -> None:
        """Go on from a state, or refuse it."""
        self.adapter.load_state_dict(state)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> StreamModule:
        """Refuse what would move or cast the network behind the stream's back."""
        backbone = self.adapter.backbone
        here = torch.zeros((), dtype=backbone.dtype, device=backbone.device)
        there = fn(here)
        if (there.device, there.dtype) != (here.device, here.dtype):
            raise ValueError(
                f"this stream's network is {backbone.dtype} on {backbone.device} and stays so; "
                f"move the model to {there.device}, {there.dtype} and adapt it there, then load "
                "the stream's saved state"
            )
        return self
