"""Prompt tokens for vision transformers: further tokens for its blocks to attend to."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from trimtab.core.position import trunk
from trimtab.core.ranges import check_whole


class Prompted(nn.Module):
    """A transformer with a parameter ``prompts``, (prompts, width), that its blocks see as tokens.

    They stand behind the image's tokens from the first block on and are taken away behind the last
    one. While they are zero, as at first, there are none, and the network is what it was.
    """

    def __init__(self, model: nn.Module, prompts: int = 3) -> None:
        super().__init__()
        check_whole("prompts", prompts, "token")
        blocks = trunk(model)
        norms = (
            [layer for layer in blocks[0].modules() if isinstance(layer, nn.LayerNorm)]
            if blocks
            else []
        )
        if not norms:
            raise ValueError(
                f"{type(model).__name__} has no row of transformer blocks with layer norms, in "
                "which prompts could stand; adapt it without them"
            )
        self.model = model
        self.prompts: nn.Parameter = nn.Parameter(
            torch.zeros(prompts, norms[0].normalized_shape[-1])
        )
        blocks[0].register_forward_pre_hook(self._put_in)
        blocks[-1].register_forward_hook(self._take_out)

    def forward(self, *inputs: Any, **named: Any) -> Any:
        return self.model(*inputs, **named)

    def _put_in(self, _block: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...] | None:
        if not bool(self.prompts.any()):
            return None
        tokens = inputs[0]
        prompts = self.prompts.to(tokens).expand(len(tokens), -1, -1)
        return (torch.cat([tokens, prompts], 1), *inputs[1:])

    def _take_out(self, _block: nn.Module, _inputs: Any, output: Any) -> Any:
        if not bool(self.prompts.any()) or not isinstance(output, Tensor):
            return None
        return output[:, : -len(self.prompts)]


def prompted(model: nn.Module, prompts: int = 3) -> Prompted:
    """A vision transformer with room for prompt tokens, for the method ``foa``.

    Args:
        model: Its blocks take tokens of shape (batch, tokens, width).
        prompts: How many tokens are added.
    """
    return Prompted(model, prompts).eval()


def is_prompt(layer: nn.Module, parameter: str) -> bool:
    """Picks the prompts among a network's parameters."""
    return isinstance(layer, Prompted) and parameter == "prompts"
