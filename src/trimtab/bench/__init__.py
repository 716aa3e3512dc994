"""Benchmarks: a RunSpec is run, a RunResult comes out, a RunStore keeps it.

``run_suite("quick", "results")`` does a whole grid of them.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trimtab.bench.execution import run_specs, run_suite
    from trimtab.bench.result import RunResult
    from trimtab.bench.spec import RunSpec
    from trimtab.bench.store import RunStore

_HOMES = {
    "RunResult": "trimtab.bench.result",
    "RunSpec": "trimtab.bench.spec",
    "RunStore": "trimtab.bench.store",
    "run_specs": "trimtab.bench.execution",
    "run_suite": "trimtab.bench.execution",
}

__all__ = ["RunResult", "RunSpec", "RunStore", "run_specs", "run_suite"]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used: reports read results without torch."""
    if name not in _HOMES:
        raise AttributeError(f"module 'trimtab.bench' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
