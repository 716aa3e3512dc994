"""Names that are loaded late are known to type checkers, which import each from its home."""

import ast
import importlib
import inspect

import pytest


@pytest.mark.parametrize("package", ["trimtab", "trimtab.bench", "trimtab.streams"])
def test_every_late_name_has_a_type(package: str) -> None:
    module = importlib.import_module(package)
    tree = ast.parse(inspect.getsource(module))
    [checked] = [
        node
        for node in tree.body
        if isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    ]
    homes = {
        alias.name: found.module
        for found in checked.body
        if isinstance(found, ast.ImportFrom)
        for alias in found.names
    }
    assert sorted(homes) == sorted(set(module.__all__) - {"__version__"})
    for name, home in homes.items():
        assert home is not None
        assert getattr(importlib.import_module(home), name) is getattr(module, name)
