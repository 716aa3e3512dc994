"""Markup that nobody's text can break."""

from hypothesis import given
from hypothesis import strategies as st

from trimtab.report.markup import breakable, element, shortened, together


def test_text_is_escaped_and_markup_is_not() -> None:
    assert element("p", "<b>", element("b", "&")) == "<p>&lt;b&gt;<b>&amp;</b></p>"


def test_attributes_are_escaped_named_and_left_out() -> None:
    made = element("a", class_="x", data_run='"><script>', hidden=False, open=True, title=None)
    assert made == '<a class="x" data-run="&quot;&gt;&lt;script&gt;" open></a>'


def test_numbers_are_short() -> None:
    assert element("rect", x=1.23456, y=2.0, width=3) == '<rect x="1.23" y="2" width="3"></rect>'


def test_text_that_was_put_together_by_hand_is_plain_text_again() -> None:
    assert element("p", f"{element('b')}!") == "<p>&lt;b&gt;&lt;/b&gt;!</p>"


@given(st.text())
def test_no_text_makes_a_tag(text: str) -> None:
    assert "<" not in together(text)
    assert "<" not in breakable(text).replace("<wbr>", "")


def test_breaks_are_offered_behind_underscores_and_before_brackets() -> None:
    assert breakable("a_b(c)") == "a_<wbr>b<wbr>(c)"


def test_long_words_are_shortened() -> None:
    assert shortened("abcdef", 4) == "abc…"
    assert shortened("abcd", 4) == "abcd"
