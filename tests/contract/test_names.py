"""One name everywhere: file, table, class, spec word."""

import importlib
from pathlib import Path

import pytest

import trimtab
from trimtab.core.card import Card
from trimtab.core.component import Component

PACKAGE = Path(trimtab.__file__).parent


def modules(folder: str) -> set[str]:
    """Files, and packages that hold one idea in several files."""
    files = {path.stem for path in (PACKAGE / folder).glob("[!_]*.py")}
    return files | {path.parent.name for path in (PACKAGE / folder).glob("*/__init__.py")}


def test_every_file_in_methods_is_in_the_table() -> None:
    assert modules("methods") == set(trimtab.METHODS)


def test_every_file_in_components_is_in_the_table() -> None:
    assert modules("components") == set(trimtab.COMPONENTS)


@pytest.mark.parametrize("name", trimtab.METHODS)
def test_a_methods_file_holds_its_factory_and_its_card(name: str) -> None:
    module = importlib.import_module(f"trimtab.methods.{name}")
    assert getattr(module, name) is trimtab.METHODS[name]
    assert isinstance(module.CARD, Card)


@pytest.mark.parametrize("name", trimtab.COMPONENTS)
def test_a_components_class_is_called_like_its_file(name: str) -> None:
    kind = trimtab.COMPONENTS[name]
    assert isinstance(kind, type)
    assert issubclass(kind, Component)
    assert getattr(importlib.import_module(f"trimtab.components.{name}"), kind.__name__) is kind
    assert "".join(word.capitalize() for word in name.split("_")) == kind.__name__


def test_nobody_imports_torch_for_the_sake_of_help() -> None:
    for path in (PACKAGE / "cli").glob("*.py"):
        lines = path.read_text().splitlines()
        assert not any(line.startswith(("import torch", "from torch")) for line in lines), path
