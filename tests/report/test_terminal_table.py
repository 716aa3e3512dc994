"""Tables that fit a terminal."""

import io

import pytest
from rich.console import Console

from trimtab.report.terminal_table import Column, tables_that_fit, wrapped

NAMES = Column("method", ["a_long_name_of_a_method with words", "short"])
COLUMNS = [Column(f"mixed, correlated\nsome_network_{n}", ["12.3 ± 0.4", "1.0"]) for n in range(9)]


def shown(width: int) -> str:
    paper = io.StringIO()
    console = Console(file=paper, width=width)
    for part in tables_that_fit(NAMES, COLUMNS, width, "title", "caption"):
        console.print(part)
    return paper.getvalue()


@pytest.mark.parametrize("width", [40, 60, 80, 120, 300])
def test_nothing_is_lost_at_any_width(width: int) -> None:
    text = shown(width)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    assert text.count("12.3 ± 0.4") == 9
    parts = text.count("┡")
    assert text.count("│ short") == parts
    assert text.count("title") == text.count("caption") == 1
    assert (parts == 1) == (width == 300)


def test_names_break_between_words_or_behind_underscores() -> None:
    assert wrapped("mixed, correlated (0.1)", 12) == "mixed,\ncorrelated\n(0.1)"
    assert wrapped("fashion_resnet20_bn", 12) == "fashion_\nresnet20_bn"
    assert wrapped("unbreakable", 4) == "unbreakable"
    assert wrapped("a b\nc", 10) == "a b\nc"


def test_a_table_without_columns_still_has_its_names() -> None:
    [part] = tables_that_fit(NAMES, [], 80)
    assert part.row_count == 2
