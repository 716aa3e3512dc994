"""Specs: the words that describe a composition, ``name + name(option=value) + ...``.

A name is one of a table or ``package.module:attribute``; values are literals, and nothing is ever
evaluated.
"""

import ast
import difflib
import io
import json
import tokenize
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

COLON = "_colon_"
"""Stands for the colon of ``package.module:attribute`` while Python's own parser reads a spec."""


@dataclass(frozen=True)
class Term:
    """One name of a spec, with the options in its brackets."""

    name: str
    arguments: dict[str, Any]


def terms(spec: str) -> list[Term]:
    """The terms of a spec, from left to right."""
    if not isinstance(spec, str):
        raise ValueError(f"expected a name, or 'name + name(option=value)', got {spec!r}")
    try:
        tree = ast.parse(_with_dots(spec.strip()), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError, tokenize.TokenError):
        raise ValueError(f"a spec reads 'name + name(option=value)', got {spec!r}") from None
    parts: list[ast.expr] = []
    while isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add):
        parts.append(tree.right)
        tree = tree.left
    return [_term(part, spec) for part in reversed([*parts, tree])]


def single_term(text: str) -> Term:
    """The one term that ``text`` describes."""
    first, *more = terms(text)
    if more:
        raise ValueError(f"expected one name, or name(option=value), got {text!r}")
    return first


def written(name: str, arguments: Mapping[str, object]) -> str:
    """The text that ``single_term`` turns into ``name`` and ``arguments``."""
    if not arguments:
        return name
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"


def assignment(text: str) -> tuple[str, Any]:
    """Name and value of ``name=value``: JSON, a Python literal, or else the text itself."""
    name, equals, value = text.partition("=")
    if not (equals and name.strip()):
        raise ValueError(f"expected NAME=VALUE, got {text!r}")
    for read in (json.loads, ast.literal_eval):
        try:
            return name.strip(), read(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
    return name.strip(), value


def choice(kind: str, name: str, known: Iterable[str]) -> str:
    """``name`` itself if it is known; otherwise an error that names the known and the nearest."""
    names = list(known)
    if name not in names:
        raise ValueError(unknown(kind, str(name), names))
    return name


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """A sentence that says a name is unknown, which ones are known, and which is nearest."""
    names = list(known)
    lower = {known_one.lower(): known_one for known_one in names}
    nearest = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.5)
    hint = f"; did you mean {lower[nearest[0]]!r}?" if nearest else ""
    listed = f"the known ones are {', '.join(names)}" if names else "there are none"
    return f"unknown {what} {name!r}: {listed}{hint}"


SHOWN, AROUND = 120, 24
"""Longest spec to be shown in full, and how much is shown before a difference."""


def where_they_differ(theirs: str, ours: str) -> tuple[str, str]:
    """Two specs as they are, or, where they are long, from shortly before they differ."""
    if max(len(theirs), len(ours)) <= SHOWN:
        return theirs, ours
    pairs = enumerate(zip(theirs, ours, strict=False))
    shorter = min(len(theirs), len(ours))
    start = max(next((place for place, (a, b) in pairs if a != b), shorter) - AROUND, 0)
    return _part(theirs, start), _part(ours, start)


def _part(text: str, start: int) -> str:
    end = start + SHOWN
    return f"{'…' * (start > 0)}{text[start:end]}{'…' * (end < len(text))}"


def _with_dots(spec: str) -> str:
    """``a.b:c(x=1)`` as ``a.b._colon_.c(x=1)``, which is Python; colons in brackets stay."""
    if ":" not in spec:
        return spec
    lines, depth = spec.splitlines(keepends=True), 0
    for token in reversed(list(tokenize.generate_tokens(io.StringIO(spec).readline))):
        depth += (token.string in ")]}") - (token.string in "([{") if token.string else 0
        if token.string == ":" and depth == 0:
            row, column = token.start
            line = lines[row - 1]
            lines[row - 1] = f"{line[:column]}.{COLON}.{line[column + 1 :]}"
    return "".join(lines)


def _term(node: ast.expr, spec: str) -> Term:
    called = node.func if isinstance(node, ast.Call) and not node.args else node
    name = _name(called)
    if name is None:
        raise ValueError(f"a spec reads 'name + name(option=value)', got {spec!r}")
    if not isinstance(node, ast.Call):
        return Term(name, {})
    try:
        return Term(name, {_option(k): ast.literal_eval(k.value) for k in node.keywords})
    except ValueError:
        raise ValueError(
            f"options in a spec are numbers, words in quotes, True, False or None, got {spec!r}"
        ) from None


def _name(node: ast.expr) -> str | None:
    """A name, or ``package.module:attribute`` where dots are; None for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or parts.count(COLON) != 1:
        return None
    return ".".join([node.id, *reversed(parts)]).replace(f".{COLON}.", ":")


def _option(keyword: ast.keyword) -> str:
    if keyword.arg is None:
        raise ValueError("options are named one by one")
    return keyword.arg
