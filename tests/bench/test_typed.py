"""Values of files against what a dataclass declares."""

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import pytest

from trimtab.bench.typed import check_fields, shown


class Point(NamedTuple):
    sample: int
    error: float


@dataclass
class Things:
    count: int
    share: float
    name: str
    state: Literal["done", "failed"]
    window: int | None = None
    flag: bool = False
    rows: list[tuple[int, float]] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    errors: dict[str, float] = field(default_factory=dict)
    whatever: Any = None


GOOD = {"count": 1, "share": 1, "name": "a", "state": "done", "window": None, "flag": True}
GOOD |= {
    "rows": [[1, 0.5], (2, 3)],
    "points": [[1, 0.5]],
    "errors": {"fog": 0.1},
    "whatever": object(),
}


def test_values_of_their_types_pass() -> None:
    check_fields(Things, GOOD)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("count", True, "count must be a whole number, got True"),
        ("count", 1.0, "count must be a whole number, got 1.0"),
        ("share", float("nan"), "share must be a number, got nan"),
        ("share", "0.1", "share must be a number, got '0.1'"),
        ("name", 3, "name must be text, got 3"),
        ("state", "dome", "state must be 'done' or 'failed', got 'dome'"),
        ("window", [5], r"window must be a whole number or nothing, got \[5\]"),
        ("flag", 1, "flag must be true or false, got 1"),
        ("rows", [[1]], "rows must be a list of numbers"),
        ("points", [[1, "2"]], "points must be a list of numbers"),
        ("errors", {"fog": None}, "errors must be a table, got"),
        ("errors", [], r"errors must be a table, got \[\]"),
    ],
)
def test_another_type_is_named(name: str, value: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_fields(Things, GOOD | {name: value})


def test_long_values_are_cut() -> None:
    assert shown("x" * 100_000) == "'" + "x" * 59 + "… (100,002 characters)"
