"""Distributed test-time adaptation: one stream over several processes, started by ``torchrun``.

``trimtab.adapt(model, "roid", process_group=group)`` on every rank treats the batches of all ranks
as one batch. Every rank holds the whole state, sees the whole batch and makes every decision, from
the same numbers; only passes through the network are shared out, a part of the rows to each rank.
"""

from trimtab.distributed.group import Group, LostRankError, OtherRankError
from trimtab.distributed.sharded import Sharded
from trimtab.distributed.start import start

__all__ = ["Group", "LostRankError", "OtherRankError", "Sharded", "start"]
