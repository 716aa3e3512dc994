"""Start one stream over the ranks of a process group."""

import hashlib
from typing import Any

from torch.distributed import ProcessGroup

from trimtab.core.adapter import Adapter
from trimtab.core.backbone import Backbone
from trimtab.core.method import Method
from trimtab.core.passes import Passes
from trimtab.distributed.group import Group
from trimtab.distributed.sharded import Sharded

MOST_LETTERS = 160
"""Of a setting that ranks compare, so that all of them fit into one message."""


def start(
    method: Method, backbone: Backbone, process_group: ProcessGroup, **options: Any
) -> Adapter:
    """A fresh stream that all ranks of the group share; each of them has to start it.

    Args:
        options: Those of ``Adapter``: seed, window, micro_batch, adapt_every, budget.
    """
    if backbone.task.is_dense:
        raise ValueError(
            "a segmentation model adapts in one process: pixels that count are not added up over "
            "ranks; leave out process_group=, and pass micro_batch= where memory is short"
        )
    group = Group(process_group, backbone.device)
    passes: Passes = Sharded(backbone, group)
    adapter = method.start(backbone, passes=passes, party=group, **options)
    facts = adapter.identity | {"seed": str(adapter.seed)}
    group.refuse_differences({name: _short(value) for name, value in facts.items()})
    return adapter


def _short(value: str) -> str:
    """A value in full, or its beginning and a digest."""
    if len(value) <= MOST_LETTERS:
        return value
    return f"{value[:MOST_LETTERS]}... ({hashlib.sha256(value.encode()).hexdigest()[:12]})"
