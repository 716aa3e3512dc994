"""Start one stream over the ranks of a process group."""

from typing import Any

from torch.distributed import ProcessGroup

from trimtab.core.adapter import Adapter
from trimtab.core.backbone import Backbone
from trimtab.core.method import Method
from trimtab.distributed.group import Group
from trimtab.distributed.sharded import Sharded


def start(
    method: Method, backbone: Backbone, process_group: ProcessGroup, **options: Any
) -> Adapter:
    """A fresh stream that all ranks of the group share; each of them has to start it.

    Args:
        options: Those of ``Adapter``: seed, window, micro_batch, adapt_every, budget.
    """
    group = Group(process_group, backbone.device)
    adapter = method.start(backbone, passes=Sharded(backbone, group), party=group, **options)
    group.refuse_differences(adapter.identity | {"seed": str(adapter.seed)})
    return adapter
