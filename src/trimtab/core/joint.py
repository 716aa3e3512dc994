"""Passes of several streams made as one.

Shared layers take all samples at once; norm layers take each with its own stream's scale, shift
and statistics. The streams' parameters go in as copies, one row for each stream, and predictions
come out as copies: no graph ever connects two streams.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from trimtab.core.backbone import Backbone, Tensors
from trimtab.core.moment_rows import split
from trimtab.core.norm import NormPolicy
from trimtab.core.prediction import Prediction
from trimtab.core.rows import Rows


@dataclass(frozen=True, eq=False)
class Request:
    """A forward pass that one stream asks for, as ``Passes.forward`` takes it."""

    inputs: Tensor
    params: Tensors
    statistics: Tensors
    policy: NormPolicy
    grad: bool

    @property
    def kind(self) -> Hashable:
        """Requests of one kind can be made as one."""
        return (kind_of(self.inputs), self.grad)

    @property
    def learns(self) -> bool:
        """Whether a gradient is to flow to the parameters."""
        return self.grad and any(p.requires_grad for p in self.params.values())

    def fits(self, backbone: Backbone) -> bool:
        """Whether this pass can be made with others at all.

        Parameters outside norm layers, and inputs that gradients flow to, need a pass of their own.
        """
        return not self.inputs.requires_grad and self.params.keys() <= backbone.row_names


def kind_of(inputs: Tensor) -> Hashable:
    """What inputs must have in common to be joined."""
    return (tuple(inputs.shape[1:]), inputs.dtype, inputs.device)


def join(inputs: Sequence[Tensor]) -> Tensor:
    """The samples of all batches, one after the other."""
    return torch.cat(list(inputs))


@dataclass(eq=False)
class Piece:
    """One stream's part of a joint pass: a prediction without history, which gradients end at."""

    whole: JointPass
    place: int
    prediction: Prediction

    @property
    def request(self) -> Request:
        """What the stream has asked for."""
        return self.whole.requests[self.place]

    @property
    def is_due(self) -> bool:
        """Whether gradients have come here and wait to go on through the network."""
        return any(t is not None and t.grad is not None for t in self.prediction)


@dataclass(eq=False)
class JointPass:
    """Several streams' forward passes, made as one.

    Args:
        names: The parameters that streams have of their own, and their sizes.
        rows: Those of each stream one after the other, shape (streams, values).
    """

    requests: list[Request]
    names: dict[str, torch.Size]
    rows: Tensor
    prediction: Prediction
    pieces: list[Piece] = field(default_factory=list)

    def gradients(self, due: Sequence[Piece], *, again: bool) -> list[Tensors]:
        """Gradients of each due stream's parameters, by name, from those of its prediction.

        Args:
            again: Whether some other stream is still to go backward through this pass.
        """
        outputs, grads = [], []
        for part, output in enumerate(self.prediction):
            given = {piece.place: _taken(piece.prediction[part]) for piece in due}
            if output is not None and any(grad is not None for grad in given.values()):
                outputs.append(output)
                grads.append(self._rows_of(output, given))
        (found,) = torch.autograd.grad(outputs, [self.rows], grads, retain_graph=again)
        return [self._by_name(found[piece.place], piece.request) for piece in due]

    def _rows_of(self, output: Tensor, given: dict[int, Tensor | None]) -> Tensor:
        """One gradient for all samples: zeros for those of streams that have given none."""
        parts = []
        for place, request in enumerate(self.requests):
            own = given.get(place)
            size = len(request.inputs)
            parts.append(output.new_zeros(size, *output.shape[1:]) if own is None else own)
        return torch.cat(parts)

    def _by_name(self, row: Tensor, request: Request) -> Tensors:
        """A stream's row as tensors of the parameters that it trains."""
        parts = split(row, list(self.names.values()))
        return {
            name: part
            for part, name in zip(parts, self.names, strict=True)
            if name in request.params and request.params[name].requires_grad
        }


def _taken(tensor: Tensor | None) -> Tensor | None:
    """The gradient that has come to a tensor, which then has none."""
    if tensor is None:
        return None
    grad, tensor.grad = tensor.grad, None
    return grad


def forward(backbone: Backbone, requests: list[Request]) -> JointPass:
    """Make passes of one kind as one."""
    learns = any(request.learns for request in requests)
    names, rows = _rows(backbone, requests)
    rows.requires_grad_(learns)
    streams = Rows(
        tuple(len(request.inputs) for request in requests),
        tuple(request.policy for request in requests),
        tuple(request.statistics for request in requests),
    )
    with torch.set_grad_enabled(learns):
        stacked = _stacked(names, rows)
        made = backbone.jointly(join([r.inputs for r in requests]), stacked, streams)
    whole = JointPass(requests, names, rows, made)
    logits = made.logits.detach().split(streams.sizes)
    features: Sequence[Tensor | None] = [None] * len(requests)
    if made.features is not None:
        features = made.features.detach().split(streams.sizes)
    for place, request in enumerate(requests):
        own = _own(logits[place], features[place], request.learns)
        whole.pieces.append(Piece(whole, place, own))
    return whole


@torch.no_grad()
def _rows(backbone: Backbone, requests: list[Request]) -> tuple[dict[str, torch.Size], Tensor]:
    """Parameters of each stream one after the other; the source's where a stream has none."""
    every = {name: None for request in requests for name in request.params}
    source = {name: backbone.source_of(name) for name in every}
    values = [request.params.get(name, source[name]) for request in requests for name in every]
    plain = all(len(value.shape) == 1 for value in source.values())
    flat = values if plain else [value.reshape(-1) for value in values]
    rows = torch.cat(flat).view(len(requests), -1) if flat else torch.zeros(len(requests), 0)
    return {name: value.shape for name, value in source.items()}, rows


def _stacked(names: dict[str, torch.Size], rows: Tensor) -> Tensors:
    """By name, each stream's value of a parameter, shape (streams, ...)."""
    parts = rows.split([shape.numel() for shape in names.values()], 1)
    return {
        name: part if len(shape) == 1 else part.unflatten(1, shape)
        for part, (name, shape) in zip(parts, names.items(), strict=True)
    }


def _own(logits: Tensor, features: Tensor | None, learns: bool) -> Prediction:
    """Copies, so that no stream holds memory of another's; gradients end here."""
    own = logits.clone().requires_grad_(learns)
    return Prediction(own, None if features is None else features.clone().requires_grad_(learns))


def backward(due: Sequence[Piece], later: Sequence[Piece]) -> dict[Piece, Tensors]:
    """Gradients of each piece's parameters, by name; each joint pass is gone through once.

    Args:
        later: Pieces that may still be gone backward through another time.
    """
    wholes: dict[JointPass, list[Piece]] = {}
    for piece in due:
        wholes.setdefault(piece.whole, []).append(piece)
    again = {piece.whole for piece in later}
    found: dict[Piece, Tensors] = {}
    for whole, pieces in wholes.items():
        grads = whole.gradients(pieces, again=whole in again)
        found |= dict(zip(pieces, grads, strict=True))
    return found


def hand_over(params: Tensors, grads: Tensors) -> None:
    """Add gradients to the ``grad`` of a stream's parameters, or of what these were cast from."""
    casts = [name for name in grads if not params[name].is_leaf]
    if casts:
        torch.autograd.backward([params[n] for n in casts], [grads[n] for n in casts])
    for name, grad in grads.items():
        tensor = params[name]
        if tensor.is_leaf:
            tensor.grad = grad if tensor.grad is None else tensor.grad + grad
