"""Attempts for trying learners by hand."""

import trimtab
from trimtab.core.attempt import Attempt


def attempt_of(adapter: trimtab.Adapter) -> Attempt:
    """An attempt at the stream's next step, which the stream will not notice."""
    fixed = adapter.backbone, adapter.method, adapter.passes, adapter.source, adapter.micro_batch
    return Attempt(*fixed, adapter.state)
