"""Words that describe a composition."""

import pytest

import trimtab
from trimtab.components.source_ensembling import SourceEnsembling
from trimtab.core.spec import terms


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
        ("tent + source_ensemble", "unknown component.*did you mean 'source_ensembling'"),
        ("roid(wieghting=True)", "unknown option of roid 'wieghting'.*did you mean 'weighting'"),
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
