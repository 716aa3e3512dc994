"""Words of a spec: ``name(key=literal, ...)`` to a name and its settings, and back."""

import ast
import difflib
from collections.abc import Iterable, Mapping


def choice(kind: str, name: str, known: Iterable[str]) -> str:
    """``name`` itself if it is known; otherwise an error that names the known and the nearest."""
    names = list(known)
    if name in names:
        return name
    nearest = difflib.get_close_matches(str(name), names, n=1)
    hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
    raise ValueError(f"unknown {kind} {name!r}, known are {', '.join(names)}{hint}")


def parse(text: str) -> tuple[str, dict[str, object]]:
    """The name and the settings in ``text``; settings are literals, nothing is evaluated."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        if isinstance(tree, ast.Name):
            return tree.id, {}
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and not tree.args:
            return tree.func.id, _literals(tree.keywords)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        pass
    raise ValueError(f"expected name or name(key=value, ...) with literal values, got {text!r}")


def write(name: str, settings: Mapping[str, object]) -> str:
    """The text that ``parse`` turns into ``name`` and ``settings``."""
    if not settings:
        return name
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in settings.items())})"


def _literals(keywords: Iterable[ast.keyword]) -> dict[str, object]:
    settings: dict[str, object] = {}
    for keyword in keywords:
        if keyword.arg is None:
            raise ValueError("** is not allowed in a spec")
        settings[keyword.arg] = ast.literal_eval(keyword.value)
    return settings
