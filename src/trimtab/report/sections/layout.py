"""What sections are made of: headings, scrolling boxes, names of settings."""

from collections.abc import Iterable, Sequence

from trimtab.bench.titles import data_title, model_title
from trimtab.report.markup import Child, Markup, breakable, element, together
from trimtab.report.settings import Setting, Subject
from trimtab.report.table import Table


def section(name: str, title: str, introduction: str, *content: Child) -> Markup:
    """A section with an anchor, a heading and a sentence or two."""
    return element(
        "section",
        element("h2", title),
        element("p", introduction, class_="introduction"),
        *content,
        id=name,
    )


def scrolling(content: Markup, title: str) -> Markup:
    """Wide content that scrolls on its own, also by keyboard, so that the page never does."""
    return element(
        "div", content, class_="scrolling", tabindex="0", role="region", aria_label=title
    )


def data_table(
    heads: Sequence[str], rows: Iterable[Sequence[Child]], words: Sequence[str] = ()
) -> Markup:
    """A table that can be sorted by any of its columns.

    Args:
        heads: The names of the columns.
        rows: One cell for each head.
        words: Heads whose cells are words, which stand to the left.
    """
    kinds = ["words" if head in words else None for head in heads]
    head = element(
        "tr",
        *(element("th", h, scope="col", class_=k) for h, k in zip(heads, kinds, strict=True)),
    )
    body = [
        element("tr", *(element("td", cell, class_=k) for cell, k in zip(row, kinds, strict=True)))
        for row in rows
    ]
    return element(
        "table",
        element("thead", head),
        element("tbody", *body),
        class_="results roomy",
        data_sortable=True,
    )


def row_filter(section_name: str, what: str = "methods") -> Markup:
    """A field that leaves only the rows of a section's tables that have these words in them."""
    return element(
        "input",
        type="search",
        placeholder=f"Filter {what} …",
        aria_label=f"Filter {what}",
        data_filter=section_name,
    )


def subject_name(table: Table, subject: Subject) -> str:
    """Data and model; with the weights where a model is here with several."""
    name = f"{data_title(subject.data)} · {model_title(subject.model)}"
    if subject.model in table.several_weights:
        name += f" · weights {subject.short_weights}"
    return name


def setting_name(table: Table, setting: Setting) -> str:
    """All of a setting in one line."""
    return f"{subject_name(table, setting.subject)} · {setting.title}"


def protocol_heading(table: Table, all_tables: list[Table]) -> Markup | None:
    """Says what the table's runs share; left out where there is one table only."""
    if len(all_tables) == 1:
        return None
    return element("h3", str(table.protocol), class_="protocol")


def with_headings(all_tables: list[Table], parts: list[Markup | None]) -> Markup:
    """The parts of all tables, one a table, those that are empty left out."""
    return together(
        *(
            together(protocol_heading(table, all_tables), part)
            for table, part in zip(all_tables, parts, strict=True)
            if part is not None
        )
    )


def scenario_name(setting: Setting) -> Markup:
    """The scenario, with places where it may be broken."""
    return breakable(setting.title)
