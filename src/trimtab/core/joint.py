"""Passes of several streams made as one.

Shared layers take all samples at once; norm layers take each with its own stream's scale, shift
and statistics. The streams' parameters go in as copies, one row for each stream, and predictions
come out as copies: no graph ever connects two streams.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

from trimtab.core.backbone import Backbone, Tensors
from trimtab.core.flat import row_of
from trimtab.core.moment_rows import layout_of, split
from trimtab.core.norm import SOURCE, NormPolicy
from trimtab.core.prediction import Prediction
from trimtab.core.rows import Rows
from trimtab.core.structured import Structured, joined_inputs

SAME = 0.02
"""Logits that differ by no more than this share of the largest differ by rounding, even of half
precision."""


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

    @cached_property
    def learns(self) -> bool:
        """Whether a gradient is to flow to the parameters."""
        return self.grad and any(p.requires_grad for p in self.params.values())

    def fits(self, backbone: Backbone) -> bool:
        """Whether this pass can be made with others at all.

        Parameters outside norm layers, and inputs that gradients flow to, need a pass of their own.
        """
        grown = isinstance(self.inputs, Tensor) and self.inputs.requires_grad
        return not grown and self.params.keys() <= backbone.row_names


def kind_of(inputs: Tensor) -> Hashable:
    """What inputs must have in common to be joined."""
    if isinstance(inputs, Structured):
        return (inputs.form, inputs.device)
    return (tuple(inputs.shape[1:]), inputs.dtype, inputs.device)


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
        names: Of the parameters that streams have of their own.
        shapes: Of the same.
        rows: Those of each stream one after the other, shape (streams, values).
    """

    requests: list[Request]
    names: tuple[str, ...]
    shapes: tuple[torch.Size, ...]
    rows: Tensor
    prediction: Prediction
    pieces: list[Piece] = field(default_factory=list)

    def gradients(self, due: Sequence[Piece], *, again: bool) -> list[Tensor]:
        """Gradients of each due stream's row of parameters, from those of its prediction.

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
        rows = found.unbind()
        return [rows[piece.place] for piece in due]

    def _rows_of(self, output: Tensor, given: dict[int, Tensor | None]) -> Tensor:
        """One gradient for all samples: zeros for those of streams that have given none."""
        parts = []
        for place, request in enumerate(self.requests):
            own = given.get(place)
            size = len(request.inputs)
            parts.append(output.new_zeros(size, *output.shape[1:]) if own is None else own)
        return torch.cat(parts)

    def by_name(self, row: Tensor, params: Tensors) -> Tensors:
        """A stream's row as tensors of the parameters that it trains."""
        parts = zip(self.names, split(row, self.shapes), strict=True)
        return {name: part for name, part in parts if name in params and params[name].requires_grad}


def _taken(tensor: Tensor | None) -> Tensor | None:
    """The gradient that has come to a tensor, which then has none."""
    if tensor is None:
        return None
    grad, tensor.grad = tensor.grad, None
    return grad


def forward(backbone: Backbone, requests: list[Request]) -> JointPass:
    """Make passes of one kind as one."""
    learns = any(request.learns for request in requests)
    names = _names(requests)
    source = {name: backbone.source_of(name) for name in names}
    shapes = tuple(value.shape for value in source.values())
    rows = _rows(source, requests).requires_grad_(learns)
    streams = Rows(
        tuple(len(request.inputs) for request in requests),
        tuple(request.policy for request in requests),
        tuple(request.statistics for request in requests),
    )
    with torch.set_grad_enabled(learns):
        stacked = dict(zip(names, _columns(rows, shapes), strict=True))
        made = backbone.jointly(joined_inputs([r.inputs for r in requests]), stacked, streams)
    whole = JointPass(requests, names, shapes, rows, made)
    logits = made.logits.detach().split(streams.sizes)
    features: Sequence[Tensor | None] = [None] * len(requests)
    if made.features is not None:
        features = made.features.detach().split(streams.sizes)
    for place, request in enumerate(requests):
        own = _own(logits[place], features[place], request.learns)
        whole.pieces.append(Piece(whole, place, own))
    return whole


def _names(requests: list[Request]) -> tuple[str, ...]:
    """Names of all parameters that some stream has of its own."""
    first = tuple(requests[0].params)
    if all(tuple(request.params) == first for request in requests):
        return first
    return tuple(dict.fromkeys(name for request in requests for name in request.params))


@torch.no_grad()
def _rows(source: Tensors, requests: list[Request]) -> Tensor:
    """Parameters of each stream one after the other; the source's where a stream has none."""
    if not source:
        return torch.zeros(len(requests), 0)
    names = tuple(source)
    rows = [row_of(r.params) if tuple(r.params) == names else None for r in requests]
    whole = [row for row in rows if row is not None]
    if len(whole) == len(rows):
        return torch.stack(whole)
    found = [
        request.params.get(name, value) for request in requests for name, value in source.items()
    ]
    if any(len(value.shape) != 1 for value in source.values()):
        found = [value.reshape(-1) for value in found]
    return torch.cat(found).view(len(requests), -1)


def _columns(rows: Tensor, shapes: tuple[torch.Size, ...]) -> list[Tensor]:
    """Each stream's value of each parameter, shape (streams, ...)."""
    sizes, plain = layout_of(shapes)
    parts = rows.split(sizes, 1)
    return list(parts) if plain else [p.unflatten(1, s) for p, s in zip(parts, shapes, strict=True)]


def _own(logits: Tensor, features: Tensor | None, learns: bool) -> Prediction:
    """Copies, so that no stream holds memory of another's; gradients end here."""
    own = logits.clone().requires_grad_(learns)
    return Prediction(own, None if features is None else features.clone().requires_grad_(learns))


def backward(due: Sequence[Piece], later: Sequence[Piece]) -> dict[Piece, Tensor]:
    """Gradients of each piece's row of parameters; each joint pass is gone through once.

    Args:
        later: Pieces that may still be gone backward through another time.
    """
    wholes: dict[JointPass, list[Piece]] = {}
    for piece in due:
        wholes.setdefault(piece.whole, []).append(piece)
    again = {piece.whole for piece in later}
    found: dict[Piece, Tensor] = {}
    for whole, pieces in wholes.items():
        grads = whole.gradients(pieces, again=whole in again)
        found |= dict(zip(pieces, grads, strict=True))
    return found


def row_gradient(found: dict[Piece, Tensor]) -> Tensor | None:
    """The gradient of a stream's parameters as one row, where all pieces have the same row."""
    for piece in found:
        params = piece.request.params
        if row_of(params) is None or tuple(params) != piece.whole.names:
            return None
    rows = list(found.values())
    return rows[0] if len(rows) == 1 else torch.stack(rows).sum(0)


def hand_over(piece: Piece, row: Tensor) -> None:
    """Add gradients to the ``grad`` of a stream's parameters, or of what these were cast from."""
    params = piece.request.params
    grads = piece.whole.by_name(row, params)
    casts = [name for name in grads if not params[name].is_leaf]
    if casts:
        torch.autograd.backward([params[n] for n in casts], [grads[n] for n in casts])
    for name, grad in grads.items():
        tensor = params[name]
        if tensor.is_leaf:
            tensor.grad = grad if tensor.grad is None else tensor.grad + grad


@torch.no_grad()
def keeps_apart(backbone: Backbone, sample: Tensor) -> bool:
    """Whether a network gives each stream what it gives it alone: tried on two streams.

    One that mixes the samples of a batch, or whose norm layers see something else than samples in
    their first dimension, does not.

    Args:
        sample: A batch of one sample.
    """
    names = backbone.row_names
    requests = [
        Request(
            inputs, {name: backbone.source_of(name) * scale for name in names}, {}, SOURCE, False
        )
        for inputs, scale in ((sample, 0.75), (sample.flip(-1), 1.25))
    ]
    try:
        pieces = forward(backbone, requests).pieces
    except (RuntimeError, ValueError, IndexError, TypeError):
        return False
    alone = [backbone(r.inputs, r.params).logits for r in requests]
    size = max(float(logits.abs().max()) for logits in alone)
    gaps = [
        float((p.prediction.logits - own).abs().max()) for p, own in zip(pieces, alone, strict=True)
    ]
    return max(gaps) <= SAME * max(size, 1e-6)
