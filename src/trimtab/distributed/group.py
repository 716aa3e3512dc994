"""Ranks that take every step together: exchanges of tensors that end well on all, or on none.

Every exchange begins with a round of messages of one size, in which small things fit whole. A rank
that has failed says so in such a message, wherever the others are in the same call, so that all
leave the call together and can go on with the next one. A rank that is gone, or silent for longer
than the process group's timeout, ends the group.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

import torch
import torch.distributed as dist
from torch import Tensor

from trimtab.core.party import Batch, Party
from trimtab.core.state import StreamState
from trimtab.core.structured import Structured
from trimtab.distributed.message import CONTENT_BYTES, content, fits, is_failure, message, words


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
        self.rank: int = dist.get_rank(process_group)
        if self.rank < 0:
            raise ValueError("this process is not in the process group; call adapt on its ranks")
        self.size: int = dist.get_world_size(process_group)
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
                self._round(b"")
            except (OtherRankError, LostRankError):
                raise
            except BaseException as error:
                self._confess(error)
                raise

    def joined(self, inputs: Tensor) -> Batch:
        found = self.everyones({"kind of samples": _kind(inputs), "rows": str(len(inputs))})
        counts = [int(theirs.pop("rows")) for theirs in found]
        _refuse_differences(found)
        if not sum(counts):
            raise ValueError("inputs must have at least one sample on some rank, got none on all")
        first = sum(counts[: self.rank])
        own = slice(first, first + len(inputs))
        if not isinstance(inputs, Structured):
            return Batch(self.gathered(inputs, counts), own)
        tensors = tuple(self.gathered(tensor, counts) for tensor in inputs.tensors)
        return Batch(cast(Tensor, Structured(inputs.names, tensors)), own)

    def refuse_differences(self, mine: Mapping[str, str]) -> None:
        """Raise a ValueError on every rank where something is not the same on all."""
        _refuse_differences(self.everyones(mine))

    # ---------------------------------------------------------------- exchanges

    def everyones(self, mine: Mapping[str, str]) -> list[dict[str, str]]:
        """What each rank says, in their order; at most some hundred words."""
        said = json.dumps(dict(mine)).encode()
        if len(said) > CONTENT_BYTES:
            raise ValueError(f"at most {CONTENT_BYTES} bytes can be said at once, got {len(said)}")
        return [json.loads(words(theirs)) for theirs in self._round(said)]

    def gathered(self, mine: Tensor, rows: Sequence[int]) -> Tensor:
        """The rows of all ranks, in their order; ``rows`` says how many each one has."""
        padded = mine.new_zeros(max(rows), *mine.shape[1:])
        padded[: len(mine)] = mine
        parts = self._parts(padded)
        return torch.cat([part[:count] for part, count in zip(parts, rows, strict=True)])

    def summed(self, mine: Tensor) -> Tensor:
        """The sum over all ranks, the same bits on each."""
        if fits(mine):
            return torch.stack(self._parts(mine)).sum(0)
        self._round(b"")
        total = mine.clone(memory_format=torch.contiguous_format)
        self._exchange(lambda: dist.all_reduce(total, group=self._group))
        return total

    def _parts(self, mine: Tensor) -> list[Tensor]:
        """Each rank's tensor, all of one shape and type."""
        if fits(mine):
            return [content(theirs, mine) for theirs in self._round(mine)]
        self._round(b"")
        mine = mine.contiguous()
        parts = [torch.empty_like(mine) for _ in range(self.size)]
        self._exchange(lambda: dist.all_gather(parts, mine, group=self._group))
        return parts

    def _round(self, mine: Tensor | bytes, *, failed: bool = False) -> list[Tensor]:
        """The messages of all ranks; raises on those that have not failed where another has."""
        own = message(mine, self.device, failed)
        found = own.new_empty(self.size, len(own))
        self._exchange(lambda: dist.all_gather(list(found.unbind()), own, group=self._group))
        messages = list(found.unbind())
        if not failed and is_failure(found):
            reasons = [
                f"rank {rank} failed ({words(theirs).decode(errors='replace')})"
                for rank, theirs in enumerate(messages)
                if is_failure(theirs[None])
            ]
            raise OtherRankError(f"{', '.join(reasons)}; the stream is as it was before the call")
        return messages

    def _confess(self, error: BaseException) -> None:
        """Let the other ranks leave the call, where they can still be reached."""
        if self._broken is not None:
            return
        reason = f"{type(error).__name__}: {error}".encode()[:CONTENT_BYTES]
        try:
            self._round(reason, failed=True)
        except LostRankError:
            return

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


def _refuse_differences(found: list[dict[str, Any]]) -> None:
    for rank, theirs in enumerate(found):
        odd = next((name for name in theirs if theirs[name] != found[0].get(name)), None)
        if odd is not None:
            raise ValueError(
                f"all ranks must have the same {odd}, got {found[0].get(odd)} on rank 0 and "
                f"{theirs[odd]} on rank {rank}; make the same calls with the same settings on all "
                "ranks, and load the same state"
            )


def _kind(inputs: Tensor) -> str:
    if isinstance(inputs, Structured):
        return ", ".join(" ".join(map(str, part)).strip() for part in inputs.form.state())
    return f"{list(inputs.shape[1:])} {inputs.dtype}"


def _position(state: StreamState | None) -> dict[str, str]:
    """Where a stream is, in few words that differ where states do."""
    if state is None:
        return {}
    tensors = [*state.params.values(), *state.statistics.values()]
    digest = sum(int(_bytes(tensor).sum(dtype=torch.int64)) for tensor in tensors)
    return {"counters": str(state.counters), "seed": str(state.seed), "parameters": f"{digest:x}"}


def _bytes(tensor: Tensor) -> Tensor:
    return tensor.detach().contiguous().flatten().view(torch.uint8)
