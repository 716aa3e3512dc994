"""Ranks that take every step together: exchanges of tensors that end well on all, or on none.

Before each exchange all ranks vote. A rank that has failed says so by its vote, wherever the others
are in the same call, so that all leave the call together and can go on with the next one. A rank
that is gone, or silent for longer than the process group's timeout, ends the group.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from trimtab.core.party import Batch, Party
from trimtab.core.state import StreamState


class OtherRankError(RuntimeError):
    """Another rank failed in this call; the stream is as it was before it, on every rank."""


class LostRankError(RuntimeError):
    """A rank is gone or silent; the stream is as it was before the call, and can be saved."""


class Group(Party):
    """The ranks of a process group, which share one stream.

    Args:
        process_group: Of any backend that gathers and reduces tensors of ``device``.
    """

    takes_empty_batches = True

    def __init__(self, process_group: dist.ProcessGroup, device: torch.device) -> None:
        self.rank = dist.get_rank(process_group)
        if self.rank < 0:
            raise ValueError("this process is not in the process group; call adapt on its ranks")
        self.size = dist.get_world_size(process_group)
        self.device = device
        self._group = process_group
        self._lock = threading.RLock()
        self._broken: str | None = None

    # ---------------------------------------------------------------- one call, taken by all

    @contextmanager
    def agreeing(self, verb: str, state: StreamState | None = None) -> Iterator[None]:
        with self._lock:
            if self._broken is not None:
                raise LostRankError(self._broken)
            try:
                self.refuse_differences({"call": verb} | _position(state))
                yield
                self._vote()
            except (OtherRankError, LostRankError):
                raise
            except BaseException as error:
                self._confess(error)
                raise

    def joined(self, inputs: Tensor) -> Batch:
        self.refuse_differences(
            {"shape of samples": str(tuple(inputs.shape[1:])), "type": str(inputs.dtype)}
        )
        rows = [int(count) for count in self.everyones(len(inputs))]
        if not sum(rows):
            raise ValueError("inputs must have at least one sample on some rank, got none on all")
        first = sum(rows[: self.rank])
        return Batch(self.gathered(inputs, rows), slice(first, first + len(inputs)))

    def refuse_differences(self, mine: Mapping[str, str]) -> None:
        """Raise a ValueError on every rank where something is not the same on all."""
        found = self.everyones(dict(mine))
        for rank, theirs in enumerate(found):
            odd = next((name for name in theirs if theirs[name] != found[0].get(name)), None)
            if odd is not None:
                raise ValueError(
                    f"all ranks must have the same {odd}, got {found[0].get(odd)} on rank 0 and "
                    f"{theirs[odd]} on rank {rank}; make the same calls with the same settings "
                    "on all ranks, and load the same state"
                )

    # ---------------------------------------------------------------- exchanges

    def everyones(self, mine: object) -> list[Any]:
        """What each rank has, in their order; for small things of any type."""
        self._vote()
        found: list[Any] = [None] * self.size
        self._exchange(lambda: dist.all_gather_object(found, mine, group=self._group))
        return found

    def gathered(self, mine: Tensor, rows: Sequence[int]) -> Tensor:
        """The rows of all ranks, in their order; ``rows`` says how many each one has."""
        self._vote()
        padded = mine.new_zeros(max(rows), *mine.shape[1:])
        padded[: len(mine)] = mine
        parts = [torch.empty_like(padded) for _ in rows]
        self._exchange(lambda: dist.all_gather(parts, padded, group=self._group))
        return torch.cat([part[:count] for part, count in zip(parts, rows, strict=True)])

    def summed(self, mine: Tensor) -> Tensor:
        """The sum over all ranks, the same bits on each."""
        self._vote()
        total = mine.clone(memory_format=torch.contiguous_format)
        self._exchange(lambda: dist.all_reduce(total, group=self._group))
        return total

    def _vote(self, failed: bool = False) -> None:
        """Go on together, or raise on every rank."""
        flag = torch.tensor([failed], dtype=torch.int32, device=self.device)
        self._exchange(lambda: dist.all_reduce(flag, dist.ReduceOp.MAX, group=self._group))
        if bool(flag) and not failed:
            reasons = self._reasons(None)
            raise OtherRankError(f"{reasons}; the stream is as it was before the call")

    def _confess(self, error: BaseException) -> None:
        """Let the other ranks leave the call, where they can still be reached."""
        if self._broken is not None:
            return
        try:
            self._vote(failed=True)
            self._reasons(f"{type(error).__name__}: {error}")
        except LostRankError:
            return

    def _reasons(self, mine: str | None) -> str:
        """Why ranks failed, as one sentence."""
        found: list[str | None] = [None] * self.size
        self._exchange(lambda: dist.all_gather_object(found, mine, group=self._group))
        failed = [f"rank {rank} failed ({why})" for rank, why in enumerate(found) if why]
        return ", ".join(failed)

    def _exchange(self, collective: Callable[[], object]) -> None:
        """Take part in a collective; one that does not end well ends the group."""
        try:
            collective()
        except BaseException as error:
            self._broken = (
                "a rank of the process group is gone, or was silent for longer than its timeout; "
                "the stream is as it was before the call: save it, start the ranks again, load it "
                f"({type(error).__name__}: {error})"
            )
            if isinstance(error, Exception):
                raise LostRankError(self._broken) from error
            raise


def _position(state: StreamState | None) -> dict[str, str]:
    """Where a stream is, in few words that differ where states do."""
    if state is None:
        return {}
    tensors = [*state.params.values(), *state.statistics.values()]
    digest = sum(int(_bytes(tensor).sum(dtype=torch.int64)) for tensor in tensors)
    return {"counters": str(state.counters), "seed": str(state.seed), "parameters": f"{digest:x}"}


def _bytes(tensor: Tensor) -> Tensor:
    return tensor.detach().contiguous().flatten().view(torch.uint8)
