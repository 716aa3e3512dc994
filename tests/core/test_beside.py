"""Work beside the caller's: done by a thread, and given up when the program ends."""

import subprocess
import sys
import threading

from trimtab.core.beside import run_beside, stop

ENDING = """
import time
from trimtab.core.beside import run_beside

def work():
    while True:
        time.sleep(0.01)

run_beside(work)
print("over")
"""


def test_work_is_done_while_the_caller_goes_on() -> None:
    goes_on, done = threading.Event(), []

    def work() -> None:
        assert goes_on.wait(30)
        done.append(threading.current_thread())

    thread = run_beside(work)
    assert done == []
    goes_on.set()
    thread.join()
    assert done == [thread]


def test_a_thread_can_be_told_to_stop() -> None:
    started = threading.Event()

    def work() -> None:
        started.set()
        while True:
            threading.Event().wait(0.001)

    thread = run_beside(work)
    assert started.wait(30)
    stop(thread)
    assert not thread.is_alive()


def test_a_program_ends_before_the_work_does() -> None:
    done = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"over\n", b"")
