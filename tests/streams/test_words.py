import pytest

from trimtab.streams.words import choice, parse, write


def test_a_name_alone_or_with_literals_is_understood():
    assert parse("continual") == ("continual", {})
    assert parse(" single( domain='fog', severity=3 ) ") == (
        "single",
        {"domain": "fog", "severity": 3},
    )
    assert parse("mixed(delta=1e-2, same_order=True)") == (
        "mixed",
        {"delta": 0.01, "same_order": True},
    )


@pytest.mark.parametrize(
    "text",
    ["", "a b", "f(1)", "f(x=y)", "f(x=__import__('os'))", "f(**{'x': 1})", "f().g", "f(x=1)(y=2)"],
)
def test_anything_else_is_an_error_and_never_evaluated(text):
    with pytest.raises(ValueError, match=r"a spec reads|options in a spec|expected one name"):
        parse(text)


def test_writing_and_parsing_are_inverse():
    settings = {"delta": 0.01, "domain": "it's", "same_order": True}
    assert parse(write("x", settings)) == ("x", settings)


def test_an_unknown_name_lists_the_known_and_the_nearest():
    with pytest.raises(
        ValueError,
        match="unknown fruit 'aple': the known ones are apple, pear; did you mean 'apple'",
    ):
        choice("fruit", "aple", ["apple", "pear"])
