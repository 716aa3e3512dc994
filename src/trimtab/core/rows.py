"""Norm layers whose samples belong to several streams, each with its own scale and shift.

While batches of several streams pass the network as one, a layer's ``weight`` and ``bias`` may be
stacked: one row for each stream. ``rows`` says whose the samples are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional

if TYPE_CHECKING:
    from trimtab.core.norm import NormPolicy


@dataclass(frozen=True)
class Rows:
    """Whose samples a batch holds: those of several streams, one after the other.

    Args:
        sizes: Samples of each stream.
        policies: Which statistics each stream's batch norms use.
        statistics: Each stream's stored means and variances, by their full name; those that are
            missing are the source's.
    """

    sizes: tuple[int, ...]
    policies: tuple[NormPolicy, ...]
    statistics: tuple[dict[str, Tensor], ...]

    @property
    def samples(self) -> int:
        """Of all streams."""
        return sum(self.sizes)

    @cached_property
    def _owners(self) -> Tensor:
        """The stream of each sample, by its place."""
        return torch.arange(len(self.sizes)).repeat_interleave(torch.tensor(self.sizes))

    def of_each_sample(self, stacked: Tensor) -> Tensor:
        """The row of each sample's stream: (streams, ...) becomes (samples, ...)."""
        if self.samples == len(self.sizes):
            return stacked
        return stacked.index_select(0, self._owners.to(stacked.device))


class RowLayer(nn.Module):
    """What norm layers have that can take samples of several streams at once."""

    rows: Rows | None = None
    path: str = ""

    def full_name(self, name: str) -> str:
        """Of one of the layer's tensors, in the whole model."""
        return f"{self.path}.{name}".lstrip(".")


def checked(x: Tensor, rows: Rows) -> Tensor:
    """``x``, if its first dimension is that of the samples."""
    if len(x) != rows.samples:
        raise ValueError(
            f"a norm layer got {len(x)} rows for {rows.samples} samples: streams cannot be told "
            "apart there"
        )
    return x


def _row_of_each(tensor: Tensor | None, rows: Rows, dims: int) -> Tensor | None:
    """A layer's parameter, for each sample; one that no stream has of its own is repeated."""
    if tensor is None or tensor.dim() > dims:
        return None if tensor is None else rows.of_each_sample(tensor)
    return tensor.expand(rows.samples, *tensor.shape)


def _flat_rows(tensor: Tensor | None, rows: Rows) -> Tensor | None:
    """All samples' channels one after the other."""
    each = _row_of_each(tensor, rows, 1)
    return None if each is None else each.reshape(-1)


class _RowGroupNorm(RowLayer, nn.GroupNorm):
    def forward(self, input: Tensor) -> Tensor:  # noqa: A002  (torch's own name)
        rows = self.rows
        if rows is None:
            return super().forward(input)
        x = checked(input, rows)
        scale, shift = (_flat_rows(p, rows) for p in (self.weight, self.bias))
        # samples become channels, of which each has a scale and shift of its own
        channels = x.reshape(1, -1, *x.shape[2:])
        groups = len(x) * self.num_groups
        return functional.group_norm(channels, groups, scale, shift, self.eps).view(x.shape)


class _RowLayerNorm(RowLayer, nn.LayerNorm):
    def forward(self, input: Tensor) -> Tensor:  # noqa: A002
        if self.rows is None:
            return super().forward(input)
        x = checked(input, self.rows)
        y = functional.layer_norm(x, self.normalized_shape, None, None, self.eps)
        return _scaled(y, self.weight, self.bias, self.rows, len(self.normalized_shape))


class _RowRMSNorm(RowLayer, nn.RMSNorm):
    def forward(self, x: Tensor) -> Tensor:
        if self.rows is None:
            return super().forward(x)
        y = functional.rms_norm(checked(x, self.rows), self.normalized_shape, None, self.eps)
        return _scaled(y, self.weight, None, self.rows, len(self.normalized_shape))


def _scaled(y: Tensor, weight: Tensor | None, bias: Tensor | None, rows: Rows, dims: int) -> Tensor:
    """Normalised values with the scale and shift of their streams along the last ``dims`` axes."""
    between = (1,) * (y.dim() - dims - 1)
    scale, shift = (
        None if row is None else row.view(len(row), *between, *row.shape[1:]).to(y.dtype)
        for row in (_row_of_each(p, rows, dims) for p in (weight, bias))
    )
    if scale is None:
        return y
    return y * scale if shift is None else torch.addcmul(shift, y, scale)


_KINDS: dict[type[nn.Module], type[RowLayer]] = {
    nn.GroupNorm: _RowGroupNorm,
    nn.LayerNorm: _RowLayerNorm,
    nn.RMSNorm: _RowRMSNorm,
}


@cache
def _with_rows(kind: Any, rows: Any) -> type[nn.Module]:
    return type(f"Stream{kind.__name__}", (rows, kind), {})


def install(layers: Iterable[tuple[str, nn.Module]]) -> list[RowLayer]:
    """Let group, layer and RMS norms take samples of several streams; all layers that can.

    Kinds with a ``forward`` of their own are left alone: where their channels are is not known.
    """
    able: list[RowLayer] = []
    for path, layer in layers:
        for known, rows in _KINDS.items():
            if isinstance(layer, known) and type(layer).forward is known.forward:
                layer.__class__ = _with_rows(type(layer), rows)  # type: ignore[arg-type]
        if isinstance(layer, RowLayer):
            layer.path = path
            able.append(layer)
    return able
