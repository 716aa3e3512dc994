"""Rules of the house that can be read off the source: sizes of files, and whose names are used."""

import ast
from collections.abc import Iterable, Iterator, Set
from functools import cache
from pathlib import Path

import pytest
from torch import nn

import trimtab

PACKAGE = Path(trimtab.__file__).parent
TESTS = Path(__file__).parents[1]
BENCHMARKS = TESTS.with_name("benchmarks")


def sources(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def test_no_file_is_longer_than_three_hundred_lines() -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in sources(PACKAGE)}
    assert [str(path) for path, length in lengths.items() if length > 300] == []
    assert lengths[PACKAGE / "core" / "adapter.py"] < 250


@pytest.mark.xdist_group("private-names")  # which are read off the package once
@pytest.mark.parametrize(
    "folder", [PACKAGE, TESTS, BENCHMARKS], ids=["package", "tests", "benchmarks"]
)
def test_no_private_name_is_used_outside_its_module(folder: Path) -> None:
    found = [f"{path}: {name}" for path in sources(folder) for name in borrowed(path, private())]
    assert found == []


@cache
def private() -> frozenset[str]:
    """Private names that the package makes."""
    trees = (ast.parse(path.read_text()) for path in sources(PACKAGE))
    made = {name for tree in trees for name in made_by(ast.walk(tree)) if is_private(name)}
    return frozenset(made - set(dir(nn.Module())))  # torch's own, which we may set but did not name


def test_no_method_defines_an_adapter() -> None:
    for path in sources(PACKAGE / "methods"):
        classes = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.ClassDef)]
        bases = {ast.unparse(base) for found in classes for base in found.bases}
        assert "Adapter" not in bases, path


def borrowed(path: Path, ours: Set[str]) -> Iterator[str]:
    """Private names of the package that a file uses without having made them."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    others = ours - set(made_by(nodes))
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("trimtab"):
            yield from (alias.name for alias in node.names if is_private(alias.name))
        elif isinstance(node, ast.Attribute) and node.attr in others:
            yield ast.unparse(node)


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def made_by(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Names that a file makes: functions, classes, variables, attributes, fields."""
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def test_a_borrowed_name_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "file.py"
    path.write_text("from trimtab.core.state import _x\na._y\nb._asdict()\nself._z = 1\nself._z\n")
    assert list(borrowed(path, {"_x", "_y", "_z"})) == ["_x", "a._y"]
