"""Words that describe a composition: ``name + name(option=value) + ...``."""

import ast
import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

Made = TypeVar("Made")


@dataclass(frozen=True)
class Term:
    """One name of a spec, with the options in its brackets."""

    name: str
    arguments: dict[str, Any]


def terms(spec: str) -> list[Term]:
    """The terms of a spec, from left to right. Values are literals; nothing is evaluated."""
    try:
        tree = ast.parse(spec.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ValueError(f"a spec reads 'name + name(option=value)', got {spec!r}") from None
    parts: list[ast.expr] = []
    while isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add):
        parts.append(tree.right)
        tree = tree.left
    return [_term(part, spec) for part in reversed([*parts, tree])]


def _term(node: ast.expr, spec: str) -> Term:
    if isinstance(node, ast.Name):
        return Term(node.id, {})
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
        try:
            arguments = {_option(k): ast.literal_eval(k.value) for k in node.keywords}
        except ValueError:
            raise ValueError(
                f"options in a spec are numbers, words in quotes, True, False or None, got "
                f"{ast.unparse(node)}"
            ) from None
        return Term(node.func.id, arguments)
    raise ValueError(f"a spec reads 'name + name(option=value)', got {spec!r}")


def _option(keyword: ast.keyword) -> str:
    if keyword.arg is None:
        raise ValueError("options are named one by one")
    return keyword.arg


def call_by_name(
    what: str, table: Mapping[str, Callable[..., Made]], name: str, arguments: Mapping[str, Any]
) -> Made:
    """``table[name](**arguments)``, with errors that name what is known."""
    if name not in table:
        raise ValueError(unknown(what, name, table))
    options = inspect.signature(table[name]).parameters
    for argument in arguments:
        if argument not in options:
            raise ValueError(unknown(f"option of {name}", argument, options))
    needed = [o.name for o in options.values() if o.default is o.empty and o.name not in arguments]
    if needed:
        raise ValueError(f"{what} {name!r} needs a value for {', '.join(needed)}")
    return table[name](**arguments)


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """A sentence that says a name is unknown, which ones are known, and which is nearest."""
    names = list(known)
    nearest = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
    listed = f"the known ones are {', '.join(names)}" if names else "there are none"
    return f"unknown {what} {name!r}: {listed}{hint}"
