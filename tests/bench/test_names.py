"""Short names for readers."""

import importlib

import pytest

import trimtab
from bench.stores import tiny_spec
from trimtab.bench.names import TITLES, counted, identity, method_title, scenario_title
from trimtab.bench.names import short_labels as labels


def test_titles_are_those_of_the_cards() -> None:
    cards = {n: importlib.import_module(f"trimtab.methods.{n}").CARD for n in trimtab.METHODS}
    assert {name: card.title for name, card in cards.items()} == TITLES


def test_options_are_shown_only_where_two_methods_differ_in_them() -> None:
    specs = [
        tiny_spec(method="eata", options={"source_data": "source"}),
        tiny_spec(method="roid"),
        tiny_spec(method="roid", options={"lr": 0.1, "prior": "none"}),
        tiny_spec(method="tent", options={"lr": 0.1, "optimizer": "sgd"}),
        tiny_spec(method="tent", options={"lr": 0.2, "optimizer": "sgd"}),
    ]
    assert [labels(specs)[identity(spec)] for spec in specs] == [
        "EATA",
        "ROID",
        "ROID (lr=0.1, prior=none)",
        "TENT (lr=0.1)",
        "TENT (lr=0.2)",
    ]


def test_two_callables_of_one_name_keep_their_modules() -> None:
    specs = [tiny_spec(method="mine:tent"), tiny_spec(method="yours:tent")]
    assert sorted(labels(specs).values()) == ["mine:tent", "yours:tent"]
    assert labels(specs[:1])[identity(specs[0])] == "tent"


@pytest.mark.parametrize(
    ("words", "title"),
    [
        ("continual", "continual"),
        ("mixed_correlated(delta=0.1)", "mixed, correlated (0.1)"),
        ("correlated(delta=0.01, same_order=True)", "correlated (0.01, same_order=True)"),
        ("single(domain='fog')", "single (domain=fog)"),
        ("reset_each_shift", "reset each shift"),
        ("mine:backwards(severity=3)", "backwards (severity=3)"),
        ("not ( a scenario", "not ( a scenario"),
    ],
)
def test_scenarios_read_as_words(words: str, title: str) -> None:
    assert scenario_title(words) == title


def test_compositions_begin_with_the_methods_title() -> None:
    assert method_title("tent + laplacian(affinity='knn')") == "TENT + laplacian(affinity='knn')"
    assert method_title("roid(lr=0.1)") == "ROID(lr=0.1)"


def test_one_is_no_plural() -> None:
    assert [counted(n, "run") for n in (0, 1, 2, 1200)] == [
        "0 runs",
        "1 run",
        "2 runs",
        "1,200 runs",
    ]
