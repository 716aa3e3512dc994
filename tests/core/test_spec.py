"""Words that describe a composition."""

import pytest

import trimtab
from trimtab.components.source_ensembling import SourceEnsembling
from trimtab.core.spec import assignment, choice, single_term, terms, written


def test_terms_carry_their_options() -> None:
    first, second = terms("tent(lr=0.01) + source_ensembling(momentum=0.99)")
    assert (first.name, first.arguments) == ("tent", {"lr": 0.01})
    assert (second.name, second.arguments) == ("source_ensembling", {"momentum": 0.99})


def test_a_composition_adds_components() -> None:
    method = trimtab.build("tent + source_ensembling(momentum=0.9)")
    assert method.components[-1] == SourceEnsembling(0.9)


def test_a_component_that_is_there_already_is_replaced() -> None:
    method = trimtab.build("roid + source_ensembling(momentum=0.5)")
    assert [c for c in method.components if isinstance(c, SourceEnsembling)] == [
        SourceEnsembling(0.5)
    ]


def test_options_outside_the_words_reach_the_method() -> None:
    assert trimtab.build("roid", prior=None, lr=0.5).optimizer.lr == 0.5


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("roit", "unknown method 'roit'.*did you mean 'roid'"),
        ("ROID", "unknown method 'ROID'.*did you mean 'roid'"),
        ("tent + source_ensemble", "unknown component.*did you mean 'source_ensembling'"),
        ("roid(wieghting=True)", "unknown option of roid 'wieghting'.*did you mean 'weighting'"),
        ("tent + periodic_reset(every=2.5)", "every must be a whole number"),
        ("cotta(views=2.5)", "views must be a whole number, got 2.5"),
        ("lame(neighbors=True)", "neighbors must be a whole number, got True"),
        ("deyo(max_entropy=None)", "max_entropy must be a number, got None"),
        ("bn_ema(batch_weight='0.5')", "batch_weight must be a number, got '0.5'"),
        ("roid -", "a spec reads"),
        ("tent + 3", "a spec reads"),
        ("tent(lr=open('x'))", "options in a spec are numbers"),
        ("__import__('os')", "a spec reads"),
    ],
)
def test_mistakes_are_named(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        trimtab.build(spec)


def test_what_a_component_cannot_do_without_is_named() -> None:
    with pytest.raises(ValueError, match="component 'source_replay' needs a value for source_data"):
        trimtab.build("tent + source_replay")


def test_a_name_may_be_an_attribute_of_a_module() -> None:
    first, second = terms("my.methods:Mine.fast(path='a:b + c:d', sides={'x': 1}) + more:idea")
    assert (first.name, first.arguments) == (
        "my.methods:Mine.fast",
        {"path": "a:b + c:d", "sides": {"x": 1}},
    )
    assert (second.name, second.arguments) == ("more:idea", {})


def test_a_name_alone_or_with_literals_is_one_term() -> None:
    term = single_term(" single( domain='fog', severity=3, same_order=True ) ")
    assert term.name == "single"
    assert term.arguments == {"domain": "fog", "severity": 3, "same_order": True}


@pytest.mark.parametrize(
    "text",
    [
        "", "a b", "f(1)", "f(x=y)", "f(x=__import__('os'))", "f(**{'x': 1})", "f().g",
        "f(x=1)(y=2)", "a + b", "a.b", "a:", ":a", "a:b:c", "a:b)", "lambda: 3",
    ],
)  # fmt: skip
def test_anything_else_is_an_error_and_never_evaluated(text: str) -> None:
    with pytest.raises(ValueError, match=r"a spec reads|options in a spec|expected one name"):
        single_term(text)


def test_writing_and_reading_are_inverse() -> None:
    settings = {"delta": 0.01, "domain": "it's", "same_order": True}
    term = single_term(written("x", settings))
    assert (term.name, term.arguments) == ("x", settings)


def test_an_unknown_name_lists_the_known_and_the_nearest() -> None:
    with pytest.raises(
        ValueError,
        match="unknown fruit 'aple': the known ones are apple, pear; did you mean 'apple'",
    ):
        choice("fruit", "aple", ["apple", "pear"])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x=False", False),
        ("x=false", False),
        ("x=None", None),
        ("x=null", None),
        ("x=1e-3", 1e-3),
        ("x=(1, 2)", (1, 2)),
        ("x='roid'", "roid"),
        ("x=roid", "roid"),
        ("x=a=b", "a=b"),
        ("x=", ""),
    ],
)
def test_a_value_is_json_or_a_literal_or_else_the_text(text: str, value: object) -> None:
    assert assignment(text) == ("x", value)


@pytest.mark.parametrize("text", ["x", "=3", " =3"])
def test_an_assignment_needs_a_name_and_an_equals_sign(text: str) -> None:
    with pytest.raises(ValueError, match="expected NAME=VALUE, got"):
        assignment(text)
