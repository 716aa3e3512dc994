"""Ways to do many runs: here, in processes, or on a Ray cluster. The results are the same.

A run has one thread unless more are asked for: sums are then added in one order, and numbers do
not depend on how many runs go on beside it.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from trimtab.bench.pool import Killed, in_processes
from trimtab.bench.result import RunResult
from trimtab.bench.spec import RunSpec
from trimtab.bench.store import RunStore
from trimtab.freed_memory import keep_freed_memory

Executor = Callable[[Sequence[RunSpec], RunStore], Iterator[RunResult | None]]
"""Yields a result for each run it did, None for each that another process has."""


def work(spec: RunSpec, folder: str, threads: int = 1) -> RunResult | None:
    """Claim a run, do it and keep its result; None when another process has it."""
    import torch

    from trimtab.bench.runner import run

    torch.set_num_threads(threads)
    store = RunStore(folder)
    with store.claim(spec) as mine:
        if not mine or store.has(spec):
            return None
        result = run(spec)
        store.put(result)
        return result


def here(threads: int = 1) -> Executor:
    """One run after the other in this process."""

    def execute(specs: Sequence[RunSpec], store: RunStore) -> Iterator[RunResult | None]:
        for spec in specs:
            yield work(spec, str(store.folder), threads)

    return execute


def processes(workers: int, threads: int = 1) -> Executor:
    """``workers`` runs at a time, each in a process."""

    def execute(specs: Sequence[RunSpec], store: RunStore) -> Iterator[RunResult | None]:
        one = partial(work, folder=str(store.folder), threads=threads)
        for spec, result in in_processes(one, specs, workers, _remembered):
            yield _marked(spec, store) if isinstance(result, Killed) else result

    return execute


def _remembered(spec: RunSpec) -> tuple[str, ...]:
    """What a process keeps from one run to the next: a network, and its passes over a stream."""
    return spec.model, spec.data, spec.scenario, str(spec.seed)


def _marked(spec: RunSpec, store: RunStore) -> RunResult | None:
    """A failed result for a run whose process was killed, unless another one has taken it."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    error = "its process was killed before the run was done; was there enough memory?"
    result = RunResult(spec, "failed", now, 0.0, error=error)
    with store.claim(spec) as mine:
        if not mine or store.has(spec):
            return None
        store.put(result)
    return result


def ray_cluster(address: str) -> Executor:
    """Tasks on a Ray cluster, or on one that is started here for ``"local"``.

    The claims stay with this process; the tasks compute, and results are kept here.
    """
    try:
        import ray  # type: ignore[import-not-found,unused-ignore]
    except ImportError as error:
        raise ValueError("--ray needs the extra: pip install 'trimtab[ray]'") from error

    def execute(specs: Sequence[RunSpec], store: RunStore) -> Iterator[RunResult | None]:
        from contextlib import ExitStack

        started = not ray.is_initialized()
        if started:
            ray.init(
                address=None if address == "local" else address,
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
        task = ray.remote(num_cpus=1)(_ray_task)
        with ExitStack() as claims:
            waiting = {}
            for spec in specs:
                if claims.enter_context(store.claim(spec)) and not store.has(spec):
                    waiting[task.remote(spec.to_json())] = spec
                else:
                    yield None
            while waiting:
                done, _ = ray.wait(list(waiting), num_returns=1)
                del waiting[done[0]]
                result = RunResult.from_json(ray.get(done[0]))
                store.put(result)
                yield result
        if started:
            ray.shutdown()

    return execute


def _ray_task(spec: dict[str, Any]) -> str:
    import torch

    from trimtab.bench.runner import run

    keep_freed_memory()
    torch.set_num_threads(1)
    return run(RunSpec.from_json(spec)).to_json()
