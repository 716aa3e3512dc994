"""Work in a thread beside the caller's, which is given up when the program ends."""

import atexit
import ctypes
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from weakref import WeakSet

PATIENCE_SECONDS = 30.0
"""How long the end of a program waits for a thread that was told to stop: it may be in a call."""

_running: WeakSet[Thread] = WeakSet()


def run_beside(work: Callable[[], None]) -> Thread:
    """The thread that does some work; the program may end before it is done."""
    thread = Thread(target=_until_stopped, args=(work,), name="trimtab-beside", daemon=True)
    _running.add(thread)
    thread.start()
    return thread


def _until_stopped(work: Callable[[], None]) -> None:
    with suppress(SystemExit):
        work()


def stop(thread: Thread) -> None:
    """Let a thread end at its next line of Python, as if that had called ``sys.exit``."""
    if thread.is_alive() and thread.ident is not None:
        number, leave = ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(number, leave)
        thread.join(PATIENCE_SECONDS)


@atexit.register
def _stop_all() -> None:
    """A thread that still runs in torch's code while Python shuts down would crash the program."""
    for thread in list(_running):
        stop(thread)
