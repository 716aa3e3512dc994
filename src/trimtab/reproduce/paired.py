"""Paired comparison of two methods' errors, with the standard error of their difference.

Both methods saw the same samples, so their errors are compared domain by domain and seed by seed:
what makes a domain hard for both cancels out.
"""

import math
import statistics

from trimtab.reproduce.analysis import Claim, compare
from trimtab.reproduce.findings import Findings


def standard_error(first: Findings, second: Findings) -> float | None:
    """Of the difference of mean errors, in points; None from fewer than two paired domains."""
    others = {result.spec.seed: result.scores for result in second.results}
    differences = []
    for result in first.results:
        other = others.get(result.spec.seed)
        if result.scores is None or other is None:
            continue
        ours, theirs = result.scores.errors, other.errors
        differences += [100 * (ours[d] - theirs[d]) for d in ours if d in theirs]
    if len(differences) < 2:
        return None
    return statistics.stdev(differences) / math.sqrt(len(differences))


def compare_errors(
    text: str, lower: Findings, higher: Findings, names: tuple[str, str], slack: float = 0.0
) -> Claim:
    """The claim that the first findings' error is below the second's, give or take ``slack``."""
    doubt = standard_error(lower, higher)
    return compare(text, lower.mean(), higher.mean(), names, slack, doubt)
