"""An adapted network as a plain module, for files, other runtimes and other code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from trimtab.core import component as roles
from trimtab.core import norm
from trimtab.core.advice import advise
from trimtab.core.backbone import Backbone
from trimtab.core.norm import BATCH, NormPolicy
from trimtab.core.state import StreamState
from trimtab.core.tied import at_all_places, places_of
from trimtab.core.unwrapping import second_tree

if TYPE_CHECKING:
    from trimtab.core.method import Method

KEEP_ALL = NormPolicy(batch_weight=1.0, keep_weight=1.0)
"""Statistics become those of the batch."""


@torch.no_grad()
def export(
    backbone: Backbone, method: Method, state: StreamState, inputs: Tensor | None
) -> nn.Module:
    """A copy of the model with the stream's weights and statistics, in evaluation mode.

    It shares nothing with the stream or the model, and knows nothing of this package.

    Args:
        inputs: A batch whose statistics its batch norms are to have, for methods that normalise
            each batch by its own and keep none.
    """
    statistics = {name: value.clone() for name, value in state.statistics.items()}
    params = {name: value.detach().to(backbone.dtype) for name, value in state.params.items()}
    if inputs is not None and backbone.has_batch_norm:
        backbone(inputs, params, statistics, KEEP_ALL)
    plain = norm.uninstalled(second_tree(backbone.model))
    values = at_all_places(places_of(plain), params | statistics)
    for path, owner in plain.named_modules():
        for name, value in (*owner._parameters.items(), *owner._buffers.items()):
            if value is not None:
                _put(owner, name, values.get(f"{path}.{name}".lstrip("."), value).clone())
    for sentence in _left_out(backbone, method, state, inputs):
        advise(sentence)
    return plain


def _put(owner: nn.Module, name: str, value: Tensor) -> None:
    """Give a module a tensor of its own in place of one that it shares."""
    if owner._parameters.get(name) is not None:
        owner._parameters[name] = nn.Parameter(value, requires_grad=value.is_floating_point())
    elif owner._buffers.get(name) is not None:
        owner._buffers[name] = value


def _left_out(
    backbone: Backbone, method: Method, state: StreamState, inputs: Tensor | None
) -> list[str]:
    """What a plain module cannot do that the stream does, a sentence each."""
    sentences = []
    rules = [rule.name for rule in method.playing(roles.OutputRule)]
    if rules:
        sentences.append(
            f"the exported module leaves out what corrects outputs along the stream: "
            f"{', '.join(rules)}; and it learns no further"
        )
    decides = method.norm == BATCH or method.playing(roles.NormRule)
    keeps = state.window.size is not None or state.followed_samples
    if backbone.has_batch_norm and decides and not keeps and inputs is None:
        sentences.append(
            "this stream normalises each batch by its own statistics and keeps none, so the "
            "exported module has the source's; pass a batch to store its statistics: "
            "adapter.export(inputs)"
        )
    return sentences
