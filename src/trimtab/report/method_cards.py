"""Method cards for pages: what a method does, in words, by its name."""

import json
from functools import cache
from importlib import resources
from typing import Any

from trimtab.report.settings import Row


@cache
def all_cards() -> dict[str, dict[str, str]]:
    """The cards of all methods, as ``docs/make_methods.py`` wrote them; no torch is needed."""
    file = resources.files("trimtab.report") / "cards.json"
    found: dict[str, dict[str, str]] = json.loads(file.read_text(encoding="utf-8"))
    return found


def method_name(row: Row) -> str:
    """The first word of a method: ``roid`` of ``roid(prior='posterior') + laplacian``."""
    words: str = json.loads(row.identity)[0]
    return words.partition("+")[0].partition("(")[0].strip()


def options(row: Row) -> dict[str, Any]:
    """The options of a row's method."""
    given: dict[str, Any] = json.loads(row.identity)[1]
    return given


def card_of(row: Row) -> dict[str, str] | None:
    """The card of a row's method; None if it is not one of ours."""
    return all_cards().get(method_name(row))


def card_anchor(row: Row) -> str | None:
    """Where a page keeps the card, None without one."""
    return f"method-{method_name(row)}" if card_of(row) else None


def flattens_confidence(row: Row) -> bool:
    """Whether this is ROID with its prior correction in the form of logits, the default."""
    return method_name(row) == "roid" and options(row).get("prior", "logits") == "logits"
