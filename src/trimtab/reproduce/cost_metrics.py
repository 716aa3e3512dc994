"""What a run cost, as numbers that tables can show."""

from trimtab.bench.result import RunResult
from trimtab.report.metrics import Metric


def _of_cost(name: str, factor: float = 1.0, digits: int = 2) -> Metric:
    def read(run: RunResult) -> float | None:
        value = None if run.cost is None else getattr(run.cost, name)
        return None if value is None else factor * value

    return Metric(name, name, "", read, digits, unit="", judged=False)


FORWARDS, BACKWARDS = _of_cost("forwards"), _of_cost("backwards")
TRAINED = _of_cost("trained_share", factor=100.0)
TIME = _of_cost("multiple", digits=1)
