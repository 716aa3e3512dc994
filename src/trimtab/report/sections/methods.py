"""A word about each method on the page: its idea, when it helps and when it hurts."""

from collections.abc import Mapping

from trimtab.report.markup import Markup, breakable, element, together
from trimtab.report.method_cards import all_cards, card_anchor, card_of, method_name
from trimtab.report.plots.marks import Mark
from trimtab.report.sections.layout import section
from trimtab.report.settings import Row

FACTS = {"helps": "Helps", "hurts": "Hurts", "source_data": "Source data", "paper": "Paper"}


def methods(marks: Mapping[Row, Mark]) -> Markup:
    """The section: one card for each method, however many rows it has."""
    rows: dict[str, list[Row]] = {}
    for row in sorted(marks, key=lambda row: not row.is_source):
        rows.setdefault(method_name(row), []).append(row)
    cards = [_card(name, found, marks) for name, found in rows.items()]
    return section(
        "methods",
        "Methods",
        "In a few words; the whole cards, with all options, are in docs/methods.md.",
        element("div", *cards, class_="cards"),
    )


def method_link(row: Row) -> Markup:
    """A method's name, which leads to its card where there is one."""
    anchor = card_anchor(row)
    words = breakable(row.label)
    if anchor is None:
        return words
    return element("a", words, href=f"#{anchor}", title=all_cards()[method_name(row)]["idea"])


def _card(name: str, rows: list[Row], marks: Mapping[Row, Mark]) -> Markup:
    card = card_of(rows[0])
    keys = together(*(_key(marks[row]) for row in rows))
    if card is None:
        words = element("p", "Not one of the methods in the package: its own file says more.")
        return element("div", element("h3", keys, breakable(name)), words, class_="card")
    facts = [
        together(element("dt", title), element("dd", card[key])) for key, title in FACTS.items()
    ]
    return element(
        "div",
        element("h3", keys, card["title"]),
        element("p", card["idea"]),
        element("dl", *facts),
        class_="card",
        id=card_anchor(rows[0]),
    )


def _key(mark: Mark) -> Markup:
    point = mark.point(7, 7, 5)
    return element("svg", point, viewbox="0 0 14 14", class_="mark", aria_hidden="true")
