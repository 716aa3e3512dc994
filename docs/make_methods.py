"""Write docs/methods.md from the methods themselves: ``python docs/make_methods.py``.

The cards also go to src/trimtab/report/cards.json, for pages that are made without torch.
"""

import importlib
import inspect
import json
import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import trimtab
from trimtab.core.card import Card
from trimtab.core.component import Objective
from trimtab.core.files import write_whole
from trimtab.core.learner import Learner
from trimtab.core.method import Method
from trimtab.core.norm import BATCH, SOURCE, NormPolicy

PAGE = Path(__file__).with_name("methods.md")
CARDS = PAGE.parents[1] / "src" / "trimtab" / "report" / "cards.json"

HEAD = """\
<!-- Made by docs/make_methods.py from the cards, signatures and docstrings in src/trimtab/methods.
     Change those and run it again. -->

# Methods

`trimtab.adapt(model, "<name>", option=value)` starts a stream; `"<name> + <component>"` adds
components to a method. Costs are passes per sample, as `adapter.counters` counts them. A *kept*
sample is one that the method learns from. Where `optimizer` is `None`, images of up to 64 px a side
are adapted with Adam, larger ones with SGD with Nesterov momentum 0.9.
"""

TRAINS = {
    "in_norm_layers": "norm layers",
    "everywhere": "all parameters",
    "NormBeforeLastBlocks": "norm layers before the last blocks",
}


def card_of(name: str) -> Card:
    """The card in the method's file."""
    card = importlib.import_module(trimtab.METHODS[name].__module__).CARD
    assert isinstance(card, Card)
    return card


def recipe(name: str) -> Method:
    """The method as its defaults make it; source data is not read before a stream begins."""
    factory = trimtab.METHODS[name]
    try:
        return factory()
    except ValueError:
        return factory(source_data=())


def trained_by(method: Method) -> str:
    """What the method trains, in words."""
    if not method.playing(Objective):
        return "nothing"
    name = getattr(method.trains, "__name__", type(method.trains).__name__)
    return TRAINS.get(name, name.replace("_", " "))


def statistics_of(policy: NormPolicy) -> str:
    """Which statistics batch norms use, in words."""
    if policy == SOURCE:
        return "the stored statistics"
    if policy == BATCH:
        return "the statistics of the batch"
    kept = ", and store them" if policy.keep_weight else ""
    return f"the stored statistics moved by {policy.batch_weight:g} towards the batch's{kept}"


def explained(factory: Callable[..., Any]) -> dict[str, str]:
    """What the docstring says of each option, on one line."""
    _, _, arguments = (inspect.getdoc(factory) or "").partition("Args:\n")
    paragraphs = re.split(r"\n(?=    \w+: )", "\n" + arguments.split("\n\n")[0])
    pairs = (paragraph.strip().split(": ", 1) for paragraph in paragraphs if paragraph.strip())
    return {name: " ".join(text.split()).replace("``", "`") for name, text in pairs}


def options_of(name: str) -> str:
    """A table of the factory's options; an option without a word of explanation is refused."""
    factory = trimtab.METHODS[name]
    parameters, words = inspect.signature(factory).parameters, explained(factory)
    if missing := [option for option in parameters if option not in words]:
        raise ValueError(f"the docstring of {name} must explain its options, {missing} are not")
    if not parameters:
        return "No options.\n"
    rows = [f"| `{o}` | `{p.default!r}` | {words[o]} |" for o, p in parameters.items()]
    return "\n".join(["| option | default | |", "|---|---|---|", *rows, ""])


def section(name: str) -> str:
    """The card of one method."""
    card, method = card_of(name), recipe(name)
    parts = " + ".join(f"`{component.name}`" for component in method.components) or "no component"
    kind = type(method.learner)
    loop = "" if kind is Learner else f", in a loop of its own (`{kind.__name__}`)"
    summary = (inspect.getdoc(trimtab.METHODS[name]) or "").partition("Args:\n")[0]
    _, _, notes = summary.strip().partition("\n\n")
    lines = [
        f"## `{name}`: {card.title}\n",
        f"{card.idea}\n",
        *([" ".join(notes.split()).replace("``", "`") + "\n"] if notes else []),
        f"- Paper: {card.paper}",
        f"- Helps: {card.helps}",
        f"- Hurts: {card.hurts}",
        f"- Forward passes: {card.forwards}",
        f"- Backward passes: {card.backwards}",
        f"- Source data: {card.source_data}",
        f"- Trains: {trained_by(method)}",
        f"- Made of: {parts}{loop}",
        f"- Batch norms use {statistics_of(method.norm)}\n",
        options_of(name),
    ]
    return "\n".join(lines)


def overview() -> str:
    """One line a method."""
    rows = ["| method | forwards | backwards | source data | trains |", "|---|---|---|---|---|"]
    for name in sorted(trimtab.METHODS):
        card = card_of(name)
        cells = (card.forwards, card.backwards, card.source_data, trained_by(recipe(name)))
        anchor = re.sub(r"[^\w -]", "", f"{name}: {card.title}".lower()).replace(" ", "-")
        rows.append(f"| [`{name}`](#{anchor}) | {' | '.join(cells)} |")
    return "\n".join([*rows, ""])


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, overview(), *(section(name) for name in sorted(trimtab.METHODS))])


def cards() -> str:
    """All cards as JSON, one a line."""
    lines = [
        f"{json.dumps(name)}: {json.dumps(asdict(card_of(name)), ensure_ascii=False)}"
        for name in sorted(trimtab.METHODS)
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    write_whole(PAGE, page().encode())
    write_whole(CARDS, cards().encode())
