"""Freed memory that stays with the process, so that the next tensor need not ask for it anew.

glibc hands large blocks back to the system as soon as they are freed, and the next one comes page
by page, each cleared by the kernel. A network's activations are such blocks, allocated and freed
in every layer of every pass: on a virtual machine this took a third of a ResNet-20's forward.
"""

import ctypes
import os
import sys

MMAP_MAX, TRIM_THRESHOLD, TOP_PAD = -4, -1, -2
"""What ``mallopt`` calls them (malloc.h)."""

NAMES = ("mmap_max", "mmap_threshold", "trim_threshold", "top_pad")
"""What environment variables call these, and the one that they take the place of."""

SETTINGS = {MMAP_MAX: 0, TRIM_THRESHOLD: 2**31 - 1, TOP_PAD: 2**26}
"""No block of its own for large tensors, up to 2 GB kept, and 64 MB asked for at a time."""


def keep_freed_memory() -> bool:
    """Keep what is freed for the next tensor, in this process from now on; whether that is so.

    The commands do this for themselves and their workers. A library does not decide it for its
    user: call it once at the start of a program that adapts. Results are the same bits. The
    process then stays as large as it ever was. Nothing is done where the allocator is not glibc's
    or its environment variables (``MALLOC_TRIM_THRESHOLD_``, say) have decided it already.
    """
    if sys.platform != "linux" or _is_decided():
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and all(mallopt(name, size) for name, size in SETTINGS.items())


def _is_decided() -> bool:
    """Whether somebody has said by hand what glibc is to do with freed memory."""
    tuned = os.environ.get("GLIBC_TUNABLES", "")
    return any(
        f"MALLOC_{name.upper()}_" in os.environ or f"glibc.malloc.{name}" in tuned for name in NAMES
    )
