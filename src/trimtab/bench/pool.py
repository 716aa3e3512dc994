"""A pool of processes: one function on many jobs, several at a time; one may die alone."""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from enum import Enum
from typing import TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")


class Killed(Enum):
    """In the place of a result: the job's process was killed, by the system or by somebody."""

    KILLED = "killed"


def in_processes(
    work: Callable[[Job], Result], jobs: Sequence[Job], workers: int
) -> Iterator[tuple[Job, Result | Killed]]:
    """Each job with what ``work`` returned for it, as they are finished.

    Processes are started afresh (spawned), so ``work`` and the jobs must be picklable. A job that
    raises ends the loop with its error, and jobs that have not begun are not begun. A process
    that is killed ends its own job alone, and another process takes its place.

    Args:
        workers: Most jobs at a time; no more processes than jobs are started.
    """
    queue = list(reversed(jobs))
    running: dict[Future[Result], tuple[ProcessPoolExecutor, Job]] = {}
    pools = [_one_process() for _ in range(max(1, min(workers, len(jobs))))]

    def begin(pool: ProcessPoolExecutor) -> None:
        job = queue.pop()
        running[pool.submit(work, job)] = (pool, job)

    try:
        for pool in pools if queue else ():
            begin(pool)
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                pool, job = running.pop(future)
                killed = isinstance(future.exception(), BrokenProcessPool)
                if killed:
                    pools.remove(pool)
                    pool.shutdown()  # ends once the process is gone, and its locks with it
                    pools.append(pool := _one_process())
                result = Killed.KILLED if killed else future.result()
                if queue:
                    begin(pool)
                yield job, result
    finally:
        for pool in pools:
            pool.shutdown(cancel_futures=True)


def _one_process() -> ProcessPoolExecutor:
    """A pool of its own for each process: one that dies breaks no other's."""
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
