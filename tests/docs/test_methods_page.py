"""The page of methods is what the code says."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

import trimtab

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_methods", DOCS / "make_methods.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_not_stale(generator: ModuleType) -> None:
    written = (DOCS / "methods.md").read_text(encoding="utf-8")
    assert written == generator.page(), "run: python docs/make_methods.py"


def test_the_cards_of_reports_are_not_stale(generator: ModuleType) -> None:
    written = (DOCS.parent / "src/trimtab/report/cards.json").read_text(encoding="utf-8")
    assert written == generator.cards(), "run: python docs/make_methods.py"


@pytest.mark.parametrize("name", trimtab.METHODS)
def test_every_option_is_explained(generator: ModuleType, name: str) -> None:
    assert generator.options_of(name)


def test_an_option_without_explanation_is_refused(
    generator: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(*, lr: float = 1.0, loud: bool = True) -> None:
        """Do nothing.

        Args:
            lr: The learning
                rate.
        """

    assert generator.explained(silent) == {"lr": "The learning rate."}
    monkeypatch.setattr(trimtab, "METHODS", {"silent": silent}, raising=False)
    with pytest.raises(ValueError, match=r"must explain its options, \['loud'\] are not"):
        generator.options_of("silent")
