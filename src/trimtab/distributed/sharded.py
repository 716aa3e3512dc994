"""Data-parallel passes: a part of every batch's rows through the network of each rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from trimtab.core.backbone import Backbone, Tensors
from trimtab.core.lesson import Descent, Lesson
from trimtab.core.moves import Move, Moved, move
from trimtab.core.norm import SOURCE, NormPolicy
from trimtab.core.prediction import Prediction
from trimtab.distributed.group import Group
from trimtab.distributed.joint_statistics import jointly


class Sharded:
    """Passes of one stream over the ranks of a group.

    Every rank asks for the same pass over the same samples, and gets the same prediction of all of
    them. Which rows go through the network of which rank is no matter to the caller.
    """

    def __init__(self, backbone: Backbone, group: Group) -> None:
        self.backbone = backbone
        self.group = group

    def forward(
        self,
        inputs: Tensor,
        params: Tensors,
        statistics: Tensors,
        policy: NormPolicy,
        *,
        grad: bool,
    ) -> Prediction:
        part = _Part(self, inputs, params, statistics, policy)
        trained = {name: p for name, p in params.items() if grad and p.requires_grad}
        if trained:
            outputs = _Pass.apply(part, list(trained), *trained.values())  # type: ignore[no-untyped-call]
        else:
            with torch.no_grad():
                outputs = part.gathered(part.through_the_network({}))
        return Prediction(*outputs) if len(outputs) == 2 else Prediction(outputs[0], None)

    def backward(self, loss: Tensor) -> None:
        loss.backward()

    def descend(self, lesson: Lesson) -> Descent | None:
        return lesson.alone(self.backward)

    def move(self, asked: Move) -> Moved | None:
        return move(asked)  # of the same gradients in every rank

    def shares(self, rows: int) -> list[int]:
        """How many of so many rows each rank takes: about as many, or one rank takes all.

        Fewer rows than ranks are not worth it, and some networks take no empty batch.
        """
        size = self.group.size
        if rows < size:
            return [rows] + [0] * (size - 1)
        return [rows * (rank + 1) // size - rows * rank // size for rank in range(size)]


class _Part(NamedTuple):
    """What one rank does for a pass."""

    passes: Sharded
    inputs: Tensor
    params: Tensors
    statistics: Tensors
    policy: NormPolicy

    @property
    def shares(self) -> list[int]:
        return self.passes.shares(len(self.inputs))

    @property
    def own(self) -> slice:
        """The rows of this rank."""
        shares, rank = self.shares, self.passes.group.rank
        return slice(sum(shares[:rank]), sum(shares[: rank + 1]))

    def through_the_network(self, trained: Tensors) -> list[Tensor]:
        """Outputs of this rank's rows, under the caller's gradient mode: logits, then features."""
        backbone, group, shares = self.passes.backbone, self.passes.group, self.shares
        inputs = self.inputs[self.own]
        if all(shares) and group.size > 1:
            policy = jointly(self.policy, group, shares)
            made = backbone(inputs, self.params | trained, self.statistics, policy)
        elif len(inputs):
            made = backbone(inputs, self.params | trained, self.statistics, self.policy)
        else:
            with torch.no_grad():  # for the shapes of the outputs
                made = backbone(self.inputs[:1], {}, {}, SOURCE).rows(slice(0))
        if not all(shares) and self.policy.keep_weight:
            self._statistics_of_the_first()
        return [output for output in made if output is not None]

    def _statistics_of_the_first(self) -> None:
        """Take over what the batch norms of the rank that had all rows have stored."""
        group, stored = self.passes.group, list(self.statistics.values())
        if not stored:
            return
        mine = torch.cat([tensor.detach().flatten() for tensor in stored])
        theirs = group.summed(mine if group.rank == 0 else torch.zeros_like(mine))
        if group.rank:  # the first one's graph must not see them written into
            for tensor, part in zip(stored, theirs.split([t.numel() for t in stored]), strict=True):
                tensor.copy_(part.view_as(tensor))

    def gathered(self, outputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """Outputs of all rows."""
        group, shares = self.passes.group, self.shares
        return tuple(group.gathered(output.detach(), shares) for output in outputs)


class _Pass(torch.autograd.Function):
    """One pass over all rows, whose backward adds up what each rank's rows say."""

    @staticmethod
    def forward(ctx: Any, part: _Part, names: list[str], *trained: Tensor) -> tuple[Tensor, ...]:
        ctx.set_materialize_grads(False)
        ctx.part = part
        ctx.leaves = [tensor.detach().requires_grad_() for tensor in trained]
        with torch.enable_grad():
            ctx.local = part.through_the_network(dict(zip(names, ctx.leaves, strict=True)))
        return part.gathered(ctx.local)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> Any:
        own = ctx.part.own
        pairs = [
            (output, grad[own])
            for output, grad in zip(ctx.local, grads, strict=True)
            if grad is not None and output.requires_grad
        ]
        local: Sequence[Tensor | None] = [None] * len(ctx.leaves)
        if pairs:
            outputs, of_outputs = zip(*pairs, strict=True)
            local = torch.autograd.grad(outputs, ctx.leaves, of_outputs, allow_unused=True)
        return (None, None, *_added_up(ctx.part.passes.group, ctx.leaves, local))


def _added_up(
    group: Group, leaves: Sequence[Tensor], grads: Sequence[Tensor | None]
) -> list[Tensor | None]:
    """Each leaf's gradient over all ranks; None where no rank has one."""
    wide = torch.promote_types(leaves[0].dtype, torch.float32)
    used = torch.tensor([grad is not None for grad in grads], device=leaves[0].device)
    flat = [
        (torch.zeros_like(leaf) if grad is None else grad).flatten().to(wide)
        for leaf, grad in zip(leaves, grads, strict=True)
    ]
    *sums, users = group.summed(torch.cat([*flat, used.to(wide)])).split(
        [*(leaf.numel() for leaf in leaves), len(leaves)]
    )
    return [
        total.view_as(leaf).to(leaf.dtype) if user else None
        for leaf, total, user in zip(leaves, sums, users.tolist(), strict=True)
    ]
