"""HTML and SVG by elements: all text is escaped unless it is markup already."""

import html


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Child = str | None
Attribute = str | float | bool | None

_EMPTY = frozenset({"meta", "br", "wbr", "img", "input", "col"})
_CASED = {"viewbox": "viewBox"}


def element(name: str, /, *children: Child, **attributes: Attribute) -> Markup:
    """An element. ``class_`` is ``class``, ``data_run`` is ``data-run``; None leaves out."""
    words = "".join(
        _attribute(key, value)
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _EMPTY:
        return Markup(f"<{name}{words}>")
    return Markup(f"<{name}{words}>{together(*children)}</{name}>")


def together(*children: Child) -> Markup:
    """Children one after the other, those that are plain text escaped."""
    return Markup("".join(_safe(child) for child in children if child is not None))


def _safe(child: str) -> str:
    return child if isinstance(child, Markup) else html.escape(child)


def _attribute(key: str, value: str | float | bool) -> str:
    name = key.rstrip("_").replace("_", "-")
    name = _CASED.get(name, name)
    if value is True:
        return f" {name}"
    text = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    return f' {name}="{html.escape(text)}"'


def breakable(text: str) -> Markup:
    """Text that may be broken behind underscores and commas, and before brackets."""
    pieces: list[Child] = []
    word = ""
    for letter in text:
        if letter == "(" and word:
            pieces += [word, element("wbr")]
            word = ""
        word += letter
        if letter in "_,":
            pieces += [word, element("wbr")]
            word = ""
    return together(*pieces, word)


def shortened(text: str, letters: int) -> str:
    """Text of at most ``letters`` letters."""
    return text if len(text) <= letters else text[: letters - 1].rstrip() + "…"
