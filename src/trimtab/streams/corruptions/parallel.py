"""Parts of a batch side by side: one thread a core, each working through its part alone.

Threads inside single operations would wait for each other after every one of them.
"""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import torch


def for_each(function: Callable[[slice], None], parts: Iterable[slice]) -> None:
    """Call ``function`` with every part, on as many threads as torch is set to use."""
    todo = list(parts)
    threads = min(torch.get_num_threads(), len(todo))
    if threads <= 1:
        for part in todo:
            function(part)
        return
    for _ in _pool(torch.get_num_threads()).map(function, todo):
        pass


@lru_cache(maxsize=1)
def _pool(threads: int) -> ThreadPoolExecutor:
    """Threads that do not split operations further; setting that leaves the caller's as it was."""
    pool = ThreadPoolExecutor(threads, "trimtab-corrupt", torch.set_num_threads, (1,))
    for _ in pool.map(lambda _: None, range(threads)):
        pass
    torch.set_num_threads(threads)
    return pool


if hasattr(os, "register_at_fork"):
    # A forked process has none of its parent's threads and would wait for them for ever.
    os.register_at_fork(after_in_child=_pool.cache_clear)
