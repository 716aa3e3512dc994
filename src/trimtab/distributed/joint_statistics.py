"""Synchronised batch norm: statistics of a batch whose rows are spread over several ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import torch
from torch import Tensor

from trimtab.core.moments import moments, moments_around_median
from trimtab.core.norm import NormPolicy
from trimtab.distributed.group import Group


@dataclass(frozen=True)
class Rows:
    """Rows of a batch that are spread over ranks.

    Args:
        shares: How many rows each rank has, at least one.
    """

    group: Group
    shares: tuple[int, ...]

    def count(self, x: Tensor) -> float:
        """Values per channel of the whole batch, of which ``x`` are this rank's rows."""
        return x.numel() // x.shape[1] * sum(self.shares) / self.shares[self.group.rank]

    def gathered(self, x: Tensor) -> Tensor:
        """The whole batch, of which ``x`` are this rank's rows, without gradients."""
        each = len(x) // self.shares[self.group.rank]  # a layer may see several rows of a sample
        return self.group.gathered(x.detach(), [each * share for share in self.shares])

    def moments(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and biased variance of each channel of the whole batch, without gradients."""
        here = torch.stack(moments(x, False))
        found = self.group.gathered(here[None], [1] * len(self.shares))
        weights = found.new_tensor(self.shares).view(-1, 1) / sum(self.shares)
        means, variances = found.unbind(1)
        mean = (weights * means).sum(0)
        return mean, (weights * (variances + (means - mean).square())).sum(0)


@dataclass(frozen=True)
class JointPolicy(NormPolicy):
    """A policy whose batch is that of all ranks; it has two rows at least."""

    rows: Rows | None = field(default=None, compare=False)

    def has_variance(self, x: Tensor) -> bool:
        return True

    def moments(self, x: Tensor, unbiased: bool) -> tuple[Tensor, Tensor]:
        assert self.rows is not None
        if self.median:
            return moments_around_median(self.rows.gathered(x), unbiased)
        mean, var = _Moments.apply(x, self.rows)  # type: ignore[no-untyped-call]
        count = self.rows.count(x)
        return mean, var * (count / (count - 1)) if unbiased else var

    def by_batch(self, x: Tensor, eps: float) -> tuple[Tensor, Tensor | None, Tensor | None]:
        assert self.rows is not None
        with torch.no_grad():
            mean, var = self.rows.moments(x.to(torch.promote_types(x.dtype, torch.float32)))
        if x.requires_grad and torch.is_grad_enabled():
            x = _Normalised.apply(x, mean, var, eps, self.rows)  # type: ignore[no-untyped-call]
        return x, mean, var


def jointly(policy: NormPolicy, group: Group, shares: Sequence[int]) -> JointPolicy:
    """The same policy for a batch that is spread over ranks."""
    if policy.median and policy.differentiable:
        raise ValueError(
            "over several processes, medians are constants for gradients; set "
            "NormPolicy(median=True, differentiable=False), as median_norm does"
        )
    same = {f.name: getattr(policy, f.name) for f in fields(NormPolicy)}
    return JointPolicy(**same, rows=Rows(group, tuple(shares)))


class _Moments(torch.autograd.Function):
    """Mean and biased variance of each channel of the whole batch, with gradients."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, rows: Rows) -> tuple[Tensor, Tensor]:
        mean, var = rows.moments(x)
        ctx.rows = rows
        ctx.save_for_backward(x, mean)
        return mean, var

    @staticmethod
    def backward(ctx: Any, of_mean: Tensor, of_var: Tensor) -> Any:
        x, mean = ctx.saved_tensors
        of_mean, of_var = ctx.rows.group.summed(torch.stack([of_mean, of_var])) / ctx.rows.count(x)
        per_channel = (1, -1) + (1,) * (x.dim() - 2)
        from_var = (x - mean.view(per_channel)) * (2 * of_var).view(per_channel)
        return from_var + of_mean.view(per_channel), None


class _Normalised(torch.autograd.Function):
    """The input of a layer that normalises by constants, which are the batch's statistics.

    What comes back is the gradient with constant statistics, g. Of the batch's own statistics it is
    g - mean(g) - normalised * mean(g * normalised), with means over the whole batch.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, mean: Tensor, var: Tensor, eps: float, rows: Rows) -> Tensor:
        ctx.eps, ctx.rows = eps, rows
        ctx.save_for_backward(x, mean, var)
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, mean, var = ctx.saved_tensors
        mean, var = mean.to(x), var.to(x)
        _, of_scale, of_shift = torch.ops.aten.native_batch_norm_backward(
            grad, x, None, mean, var, None, None, False, ctx.eps, [False, True, True]
        )
        means = ctx.rows.group.summed(torch.stack([of_scale, of_shift])) / -ctx.rows.count(x)
        back = torch.native_batch_norm(x, means[0], means[1], mean, var, False, 0.0, ctx.eps)[0]
        return back.add_(grad), None, None, None, None
