"""A pool of processes: one function on many jobs, several at a time."""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")


def in_processes(
    work: Callable[[Job], Result], jobs: Sequence[Job], workers: int
) -> Iterator[tuple[Job, Result]]:
    """Each job with what ``work`` returned for it, as they are finished.

    Processes are started afresh (spawned), so ``work`` and the jobs must be picklable. A job that
    raises ends the loop with its error, and jobs that have not begun are not begun.

    Args:
        workers: Most jobs at a time; no more processes than jobs are started.
    """
    context = multiprocessing.get_context("spawn")
    count = max(1, min(workers, len(jobs)))
    with ProcessPoolExecutor(count, mp_context=context) as pool:
        futures = {pool.submit(work, job): job for job in jobs}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            for future in futures:
                future.cancel()
