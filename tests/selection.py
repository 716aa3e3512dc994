"""Which cases stand for the others where there is little time: what ``--quick`` leaves out."""

import zlib
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

NORMS = ("bn", "gn", "ln")
"""Kinds of norm layers: batch, group and layer norm."""

ONE_IN = {
    "test_corruptions.py": 2,
    "test_every_component.py": 4,
    "test_every_guarded_method.py": 4,
    "test_every_method.py": 3,
    "test_equal_to_alone.py": 2,
    "test_model_kinds.py": 2,
    "test_out_of_range.py": 3,
    "test_transactions.py": 2,
}
"""Files that check everything by discovery: of tests with many cases, one in so many is run."""


class Case(NamedTuple):
    """A test by its file, its function, and the words for its values, the kind of norm apart."""

    file: str
    function: str
    words: str
    norm: str | None = None


def chosen(cases: Iterable[Case]) -> set[Case]:
    """Each test on one of the kinds of norms it has, and a part of what is checked by discovery.

    The numbers of both choices have to be independent of each other: were the second one made by
    a number that the first depends on, all cases of a file could be left out.
    """
    same: dict[Case, list[Case]] = defaultdict(list)
    for case in cases:
        same[case._replace(norm=None)].append(case)
    ones = {found[_number(case, "norm") % len(found)] for case, found in same.items()}
    return {
        case
        for case in ones
        if not case.words or _number(case, "part") % ONE_IN.get(case.file, 1) == 0
    }


def _number(case: Case, choice: str) -> int:
    return zlib.crc32("/".join((choice, case.function, case.words)).encode())
