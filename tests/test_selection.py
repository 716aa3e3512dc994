"""What is run where there is little time stands for all the rest."""

from collections import Counter

import trimtab
from contract.test_every_method import CASES
from selection import NORMS, ONE_IN, Case, chosen


def cases_of(file: str, count: int = 600) -> list[Case]:
    """Tests of a file, each on every kind of norm."""
    return [Case(file, "test", f"{n}-method", norm) for n in range(count) for norm in NORMS]


def test_each_test_is_run_on_one_kind_of_norm_and_all_kinds_come_up() -> None:
    found = chosen(cases_of("test_other.py"))
    assert len(found) == len({case.words for case in found}) == 600
    counts = Counter(case.norm for case in found)
    assert counts.keys() == set(NORMS)
    assert min(counts.values()) > 150


def test_a_part_of_what_is_checked_by_discovery_is_run_and_never_nothing() -> None:
    for file, one_in in ONE_IN.items():
        found = chosen(cases_of(file))
        assert 0.7 * 600 / one_in < len(found) < 1.3 * 600 / one_in
        assert {case.norm for case in found} == set(NORMS)


def test_a_test_without_cases_is_always_run() -> None:
    alone = [Case(file, f"test_{n}", "") for file in ONE_IN for n in range(20)]
    assert chosen(alone) == set(alone)


def test_a_test_that_has_one_kind_of_norm_only_is_run_on_it() -> None:
    assert chosen([Case("test_other.py", "test", "", "ln")]) == {
        Case("test_other.py", "test", "", "ln")
    }


def test_most_methods_and_all_checks_of_the_contract_are_among_them() -> None:
    cases = [
        Case("test_every_method.py", "test", f"{check}-{method}", norm)
        for check, method, norm in CASES
    ]
    words = {tuple(case.words.rsplit("-", 1)) for case in chosen(cases)}
    assert {check for check, _ in words} == {check for check, *_ in CASES}
    assert len({method for _, method in words}) > 0.9 * len(trimtab.METHODS)
