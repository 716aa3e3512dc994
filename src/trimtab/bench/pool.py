"""A pool of processes: one function on many jobs, several at a time; one may die alone."""

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from enum import Enum
from itertools import takewhile
from typing import Any, TypeVar

from trimtab.freed_memory import keep_freed_memory

Job = TypeVar("Job")
Result = TypeVar("Result")


class Killed(Enum):
    """In the place of a result: the job's process was killed, by the system or by somebody."""

    KILLED = "killed"


def in_processes(
    work: Callable[[Job], Result],
    jobs: Sequence[Job],
    workers: int,
    traits: Callable[[Job], tuple[Any, ...]] = lambda job: (),
) -> Iterator[tuple[Job, Result | Killed]]:
    """Each job with what ``work`` returned for it, as they are finished.

    Processes are started afresh (spawned), so ``work`` and the jobs must be picklable. A job that
    raises ends the loop with its error, and jobs that have not begun are not begun. A process
    that is killed ends its own job alone, and another process takes its place. All of them end
    with the process that called, however that ends.

    Args:
        workers: Most jobs at a time; no more processes than jobs are started.
        traits: What a job shares with others that its process remembers, the dearest first. A
            process goes on with what is most like its last job and least like those of others;
            of equal ones, with the first.
    """
    queue = list(jobs)
    last: dict[ProcessPoolExecutor, tuple[Any, ...]] = {}
    running: dict[Future[Result], tuple[ProcessPoolExecutor, Job]] = {}
    pools = [_one_process() for _ in range(max(1, min(workers, len(jobs))))]

    def begin(pool: ProcessPoolExecutor) -> None:
        others = [known for owner, known in last.items() if owner is not pool]
        place = most_fitting([traits(job) for job in queue], last.get(pool, ()), others)
        job = queue.pop(place)
        last[pool] = traits(job)
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
                    del last[pool]
                    pool.shutdown()  # ends once the process is gone, and its locks with it
                    pools.append(pool := _one_process())
                result = Killed.KILLED if killed else future.result()
                if queue:
                    begin(pool)
                yield job, result
    finally:
        for pool in pools:
            pool.shutdown(cancel_futures=True)


def most_fitting(
    jobs: Sequence[tuple[Any, ...]], own: tuple[Any, ...], others: Sequence[tuple[Any, ...]]
) -> int:
    """Which job shares more with a process's own last one than with those of the others.

    Args:
        jobs: The traits of each; so are ``own`` and ``others``.
    """
    gains = [
        _shared(job, own) - max((_shared(job, other) for other in others), default=0)
        for job in jobs
    ]
    return gains.index(max(gains))


def _shared(one: tuple[Any, ...], other: tuple[Any, ...]) -> int:
    """How many traits are the same, from the first on."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))))


def _one_process() -> ProcessPoolExecutor:
    """A pool of its own for each process: one that dies breaks no other's."""
    spawn = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, mp_context=spawn, initializer=_begin)


def _begin() -> None:
    """What a process does before its first job."""
    keep_freed_memory()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Wait for the process that wants the results, and end with it.

    A killed parent ends no pool. Its processes would finish their jobs, which nobody waits for,
    and then wait for further ones for ever.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
