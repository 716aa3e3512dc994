"""The standard error of a difference of errors, against its definition."""

import numpy as np
import pytest

from report import stores
from trimtab.bench.result import RunResult
from trimtab.reproduce.findings import Findings
from trimtab.reproduce.paired import compare_errors, standard_error
from trimtab.reproduce.setup import setup_for, small

SETUP = small(setup_for("fashion_mnist"))


def run(method: str, seed: int, errors: list[float]) -> RunResult:
    spec = stores.spec(method=method, seed=seed)
    by_domain = {f"domain {place}": error for place, error in enumerate(errors)}
    mean = float(np.mean(errors))
    return stores.done(spec, mean, errors=by_domain, domain_error=mean)


def findings(*results: RunResult) -> Findings:
    return Findings(SETUP, results)


def test_domains_and_seeds_are_paired() -> None:
    hard = [0.1, 0.5, 0.9, 0.3]  # domains differ far more than methods do
    better = findings(
        run("roid", 1, [error - 0.02 for error in hard]),
        run("roid", 2, [error - 0.04 for error in hard]),
    )
    worse = findings(run("tent", 2, hard), run("tent", 1, hard))
    differences = [-2.0] * 4 + [-4.0] * 4
    expected = np.std(differences, ddof=1) / np.sqrt(8)
    assert standard_error(better, worse) == pytest.approx(expected)
    claim = compare_errors("", better, worse, ("ROID", "TENT"))
    assert claim.holds is True
    assert "margin +3.0 ± 0.4" in claim.numbers


def test_noisy_differences_are_too_close_to_say() -> None:
    first = findings(run("roid", 1, [0.1, 0.5, 0.2, 0.4]))
    second = findings(run("tent", 1, [0.3, 0.3, 0.35, 0.29]))
    assert compare_errors("", first, second, ("a", "b")).verdict == "too close to say"


def test_without_pairs_there_is_no_standard_error() -> None:
    one = findings(run("roid", 1, [0.1, 0.5]))
    other = findings(run("tent", 2, [0.1, 0.5]))
    assert standard_error(one, other) is None
    assert standard_error(one, findings()) is None
