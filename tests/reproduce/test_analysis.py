"""Claims and numbers as words."""

from trimtab.reproduce.analysis import Claim, Number, change, compare


def test_a_claim_holds_up_to_its_slack() -> None:
    names = ("a", "b")
    assert compare("", 9.9, 10.0, names).holds is True
    assert compare("", 10.4, 10.0, names).holds is False
    assert compare("", 10.4, 10.0, names, slack=0.5).holds is True
    assert compare("", 9.0, 10.0, names, slack=-2.0).holds is False


def test_a_tie_does_not_hold() -> None:
    names = ("with", "without")
    assert compare("", 28.0, 28.0, names).holds is False
    assert compare("", 27.96, 28.04, names).holds is False  # both read 28.0
    assert compare("", 28.0, 28.0, names, slack=0.5).holds is True
    assert change("", 28.04, 27.96, names, falls=True).holds is False
    assert change("", 28.1, 27.9, names, falls=True).holds is True


def test_a_margin_within_two_standard_errors_is_too_close_to_say() -> None:
    names = ("a", "b")
    assert compare("", 10.0, 11.0, names, doubt=0.4).verdict == "holds"
    assert compare("", 11.0, 10.0, names, doubt=0.4).verdict == "does not hold here"
    near = compare("", 10.0, 10.7, names, doubt=0.4)
    assert (near.verdict, near.holds) == ("too close to say", None)
    assert near.numbers == "a 10.0, b 10.7; margin +0.7 ± 0.4"
    assert compare("", 10.7, 10.0, names, doubt=0.4).close
    assert compare("", 10.0, 10.0, names, doubt=0.0).close


def test_a_claim_without_numbers_is_not_checked() -> None:
    assert compare("", None, 1.0, ("a", "b")).verdict == "not checked"
    assert Claim("", False).verdict == "does not hold here"


def test_a_number_stands_beside_the_papers() -> None:
    assert str(Number(54.42, 0.1, 54.5)) == "54.4 ±0.1 (paper 54.5)"
    assert str(Number(None)) == "–"
