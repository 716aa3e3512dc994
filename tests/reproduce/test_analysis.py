"""Claims and numbers as words."""

from trimtab.reproduce.analysis import Claim, Number, compare


def test_a_claim_holds_up_to_its_slack() -> None:
    names = ("a", "b")
    assert compare("", 10.0, 10.0, names).holds is True
    assert compare("", 10.4, 10.0, names).holds is False
    assert compare("", 10.4, 10.0, names, slack=0.5).holds is True
    assert compare("", 9.0, 10.0, names, slack=-2.0).holds is False


def test_a_claim_without_numbers_is_not_checked() -> None:
    assert compare("", None, 1.0, ("a", "b")).verdict == "not checked"
    assert Claim("", False).verdict == "does not hold here"


def test_a_number_stands_beside_the_papers() -> None:
    assert str(Number(54.42, 0.1, 54.5)) == "54.4 ±0.1 (paper 54.5)"
    assert str(Number(None)) == "–"
