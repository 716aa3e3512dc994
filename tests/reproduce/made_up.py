"""Findings of made-up runs and studies."""

from collections.abc import Callable
from dataclasses import replace

from report import stores
from trimtab.bench.spec import RunSpec
from trimtab.reproduce.execution import all_runs, all_studies
from trimtab.reproduce.experiment import Experiment
from trimtab.reproduce.findings import Findings
from trimtab.reproduce.setup import Setup
from trimtab.reproduce.study import Record, Study


def findings(
    experiment: Experiment,
    setup: Setup,
    error: Callable[[RunSpec], float],
    cost: Callable[[RunSpec], tuple[float, float, float]] = lambda spec: (1.0, 1.0, 0.01),
    record: Callable[[Study], Record] = lambda study: {},
    samples: int = 600,
) -> Findings:
    """All that an experiment asks for.

    ``error`` is a share, ``cost`` forwards, backwards and the share that is trained.
    """
    results = []
    for spec in all_runs([experiment], setup):
        forwards, backwards, trained = cost(spec)
        result = stores.done(spec, error(spec), samples=samples)
        assert result.cost is not None
        spent = replace(result.cost, forwards=forwards, backwards=backwards, trained_share=trained)
        results.append(replace(result, cost=spent))
    records = tuple((study, record(study)) for study in all_studies([experiment], setup))
    return Findings(setup, tuple(results), records)
