"""Synchronised batch norm: statistics of a batch whose rows are spread over several ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import torch
from torch import Tensor

from trimtab.core.norm import NormPolicy, moments
from trimtab.distributed.group import Group


@dataclass(frozen=True)
class JointPolicy(NormPolicy):
    """A policy whose batch is that of all ranks.

    Args:
        shares: How many rows of the batch each rank has, at least one.
    """

    group: Group | None = field(default=None, compare=False)
    shares: tuple[int, ...] = ()

    is_joint = True

    def moments(self, x: Tensor, unbiased: bool) -> tuple[Tensor, Tensor]:
        assert self.group is not None
        mean, var = _JointMoments.apply(x, self.group, self.shares)  # type: ignore[no-untyped-call]
        count = x.numel() // x.shape[1] * sum(self.shares) / self.shares[self.group.rank]
        return mean, var * (count / (count - 1)) if unbiased else var


def jointly(policy: NormPolicy, group: Group, shares: Sequence[int]) -> JointPolicy:
    """The same policy for a batch that is spread over ranks."""
    same = {f.name: getattr(policy, f.name) for f in fields(NormPolicy)}
    return JointPolicy(**same, group=group, shares=tuple(shares))


class _JointMoments(torch.autograd.Function):
    """Mean and biased variance of each channel over the rows of all ranks."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, group: Group, shares: tuple[int, ...]
    ) -> tuple[Tensor, Tensor]:
        found = group.gathered(torch.stack(moments(x, False))[None], [1] * len(shares))
        weights = found.new_tensor(shares).view(-1, 1) / sum(shares)
        means, variances = found.unbind(1)
        mean = (weights * means).sum(0)
        var = (weights * (variances + (means - mean).square())).sum(0)
        ctx.group = group
        ctx.count = x.numel() // x.shape[1] * sum(shares) / shares[group.rank]
        ctx.save_for_backward(x, mean)
        return mean, var

    @staticmethod
    def backward(ctx: Any, of_mean: Tensor, of_var: Tensor) -> Any:
        x, mean = ctx.saved_tensors
        of_mean, of_var = ctx.group.summed(torch.stack([of_mean, of_var])) / ctx.count
        per_channel = (1, -1) + (1,) * (x.dim() - 2)
        from_var = (x - mean.view(per_channel)) * (2 * of_var).view(per_channel)
        return from_var + of_mean.view(per_channel), None, None
