"""``trimtab demo``: what it shows at 80 and at 120 columns and in a file."""

import pytest

from cli.demo_screens import SCREENS, path_of, screen
from trimtab.bench import suite


@pytest.mark.parametrize("name", SCREENS)
def test_the_demo_shows_what_was_recorded(name: str) -> None:
    assert screen(*SCREENS[name]) == path_of(name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SCREENS)
def test_every_method_has_its_name_and_no_word_is_cut(name: str) -> None:
    shown = path_of(name).read_text(encoding="utf-8")
    table = shown[shown.index("┡") :]
    for method in ("Source", "BN-1", "TENT", "EATA", "ROID", "Trimtab", "LAME"):
        assert f"│ {method} " in table
    assert "…" not in table
    assert "∅ collapsed" in table
    frame = [line for line in shown.splitlines() if line[:1] in "│┃┏┡└"]
    assert max(map(len, frame)) <= SCREENS[name][0]


def test_the_demo_includes_the_preset() -> None:
    runs = suite.load("quick").runs
    assert sum(spec.method == "trimtab" for spec in runs) == 4
