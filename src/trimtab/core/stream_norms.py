"""Batch norms of several streams at once: each stream's samples by its own statistics.

Nothing but torch's own batch norm computes here, once for each stream, into one output and with one
place in the graph. What is the same for all (blending statistics, looking up whose turn it is) is
done for all of them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from trimtab.core.moments import towards

if TYPE_CHECKING:
    from trimtab.core.norm import NormPolicy


@dataclass(frozen=True)
class Asked:
    """What one batch norm is asked for by several streams.

    Args:
        parts: Each stream's samples.
        weights: How much of its samples' statistics each normalises with, and how much it keeps.
        means: Stored, of each stream; what it keeps is written there.
        variances: As ``means``.
    """

    parts: Sequence[Tensor]
    policies: Sequence[NormPolicy]
    weights: Sequence[tuple[float, float]]
    means: Sequence[Tensor]
    variances: Sequence[Tensor]

    @cached_property
    def _weights(self) -> list[tuple[float, float]]:
        """A single value a channel has no statistics, and who does not look keeps nothing."""
        return [
            own if own[0] and policy.has_variance(part) else (0.0, 0.0)
            for own, policy, part in zip(self.weights, self.policies, self.parts, strict=True)
        ]

    @cached_property
    def _by_batch(self) -> list[bool]:
        """Who normalises by the samples alone."""
        return [
            weight == 1 and not policy.median
            for (weight, _), policy in zip(self._weights, self.policies, strict=True)
        ]

    @property
    def can_be_met(self) -> bool:
        """Whether all normalise alike: by their samples alone, or all by constants."""
        if any(self._by_batch):
            return all(self._by_batch)
        blended = (
            weight > 0 and policy.differentiable
            for (weight, _), policy in zip(self._weights, self.policies, strict=True)
        )
        return not (torch.is_grad_enabled() and any(blended))

    def met(self, x: Tensor, scale: Tensor, shift: Tensor, eps: float) -> Tensor:
        """All streams' samples, which ``x`` holds, normalised; what is to be kept is kept.

        Args:
            scale: A row for each stream, or one for all, as ``shift``.
        """
        sizes = tuple(map(len, self.parts))
        own = [p if p.dim() > 1 else p.expand(len(sizes), -1) for p in (scale, shift)]
        batch, keep = ([weights[place] for weights in self._weights] for place in range(2))
        by = None if any(self._by_batch) else self._towards(batch)
        result: Tensor = _EachByItsOwn.apply(x, *own, *(by or (None, None)), sizes, eps)  # type: ignore[no-untyped-call]
        if any(keep):
            self._keep(by if by and keep == batch else self._towards(keep), keep)
        return result

    @cached_property
    def _stored(self) -> tuple[Tensor, Tensor]:
        """Means and variances, a row for each stream."""
        return torch.stack([*self.means]), torch.stack([*self.variances])

    @cached_property
    def _seen(self) -> tuple[Tensor, Tensor]:
        """Those of each stream's samples; the stored ones where nobody asks for them."""
        found = [
            policy.moments(part, policy.unbiased) if weight else (mean, var)
            for part, policy, (weight, _), mean, var in zip(
                self.parts, self.policies, self._weights, *self._stored, strict=True
            )
        ]
        means, variances = zip(*found, strict=True)
        return torch.stack(means), torch.stack(variances)

    @torch.no_grad()
    def _towards(self, weights: list[float]) -> tuple[Tensor, Tensor]:
        """Stored statistics, each stream's moved by its weight towards what was seen."""
        column = self._stored[0].new_tensor
        between = [p.mixture * w * (1 - w) for p, w in zip(self.policies, weights, strict=True)]
        added = column(between)[:, None] if any(between) else None
        return towards(self._stored, self._seen, column(weights)[:, None], added)

    @torch.no_grad()
    def _keep(self, found: tuple[Tensor, Tensor], weights: list[float]) -> None:
        for stored, rows in zip((self.means, self.variances), found, strict=True):
            for own, row, weight in zip(stored, rows, weights, strict=True):
                if weight:
                    own.copy_(row)


class _EachByItsOwn(torch.autograd.Function):
    """torch's batch norm of each stream, as one node of the graph."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        scale: Tensor,
        shift: Tensor,
        mean: Tensor | None,
        var: Tensor | None,
        sizes: tuple[int, ...],
        eps: float,
    ) -> Tensor:
        output = torch.empty_like(x)
        streams, by_batch = len(sizes), mean is None
        seen = [scale.new_empty(streams, x.shape[1] if by_batch else 0) for _ in range(2)]
        for part, w, b, m, v, into, seen_mean, seen_deviation in zip(
            x.split(sizes),
            scale.unbind(),
            shift.unbind(),
            _rows(mean, streams),
            _rows(var, streams),
            output.split(sizes),
            *(each.unbind() for each in seen),
            strict=True,
        ):
            torch.ops.aten.native_batch_norm.out(
                *(part, w, b, m, v, by_batch, 0.0, eps),
                out=into,
                save_mean=seen_mean,
                save_invstd=seen_deviation,
            )
        ctx.save_for_backward(x, scale, mean, var, *seen)
        ctx.sizes, ctx.eps = sizes, eps
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        x, scale, mean, var, *seen = ctx.saved_tensors
        streams, by_batch, wanted = len(ctx.sizes), mean is None, ctx.needs_input_grad[:3]
        found = [
            torch.ops.aten.native_batch_norm_backward(
                *(grad, part, w, m, v), *kept, by_batch, ctx.eps, wanted
            )
            for grad, part, w, m, v, *kept in zip(
                grads[0].split(ctx.sizes),
                x.split(ctx.sizes),
                scale.unbind(),
                _rows(mean, streams),
                _rows(var, streams),
                *(each.unbind() for each in seen),
                strict=True,
            )
        ]
        joined = (torch.cat, torch.stack, torch.stack)
        parts = [
            join([row[place] for row in found]) if wanted[place] else None
            for place, join in enumerate(joined)
        ]
        return (*parts, None, None, None, None)


def _rows(tensor: Tensor | None, streams: int) -> Sequence[Tensor | None]:
    return [None] * streams if tensor is None else tensor.unbind()
