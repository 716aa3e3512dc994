"""The tables of the papers: methods by settings, one number at a time."""

from trimtab.bench.titles import scenario_meaning
from trimtab.report.markup import Markup, breakable, element, together
from trimtab.report.metrics import Metric
from trimtab.report.reading import MEANINGS, WORSE, Reading, mean_readings, readings
from trimtab.report.sections.layout import (
    protocol_heading,
    row_filter,
    scenario_name,
    scrolling,
    section,
    setting_name,
    subject_name,
)
from trimtab.report.sections.methods import method_link
from trimtab.report.sections.runs import cell_anchor
from trimtab.report.settings import Row, Setting
from trimtab.report.table import Table

MANY = 8
"""With more columns than this, spreads stand below their means."""


def error_table(tables: list[Table], first: Metric) -> Markup:
    """The section; ``first`` is the number that is shown until another one is asked for."""
    shown = {metric.name: metric for table in tables for metric in table.metrics}
    metrics = tuple(shown.values())
    content = [
        together(
            protocol_heading(table, tables),
            *(_one(table, number, metric, hidden=metric is not first) for metric in metrics),
        )
        for number, table in enumerate(tables)
    ]
    return section(
        "table",
        "Results",
        "Mean over seeds, ± its standard deviation. Bold is the best of a column. Tap a number for "
        "its runs and the commands that do them again, a head to sort, a name for its card.",
        element("div", _switch(first, metrics), row_filter("table"), class_="controls"),
        *content,
        _key(),
        _scenarios(tables),
    )


def _switch(first: Metric, metrics: tuple[Metric, ...]) -> Markup:
    buttons = [
        element(
            "button",
            metric.title,
            type="button",
            title=metric.explanation,
            data_show=metric.name,
            aria_pressed="true" if metric is first else "false",
        )
        for metric in metrics
    ]
    return element("div", *buttons, class_="switch", role="group", aria_label="Number shown")


def _one(table: Table, number: int, metric: Metric, *, hidden: bool) -> Markup:
    body = element("tbody", *_rows(table, number, metric))
    caption = element("caption", f"{metric.explanation} {_capital(str(table.protocol))}.")
    kind = "results dense" if len(table.settings) > MANY else "results"
    content = element("table", caption, _head(table), body, class_=kind, data_sortable=True)
    box = scrolling(content, f"{metric.title}, {table.protocol}")
    return element("div", box, data_metric=metric.name, hidden=hidden)


def _head(table: Table) -> Markup:
    subjects = [
        element(
            "th",
            breakable(subject_name(table, subject)),
            scope="colgroup",
            colspan=len(settings),
            class_="subject first",
        )
        for subject, settings in table.subjects.items()
    ]
    scenarios = [
        element(
            "th",
            scenario_name(setting),
            scope="col",
            class_=_first(index),
            title=scenario_meaning(setting.scenario) or None,
        )
        for settings in table.subjects.values()
        for index, setting in enumerate(settings)
    ]
    mean = element("th", "Mean", scope="col", rowspan=2, class_="first")
    return element(
        "thead",
        element(
            "tr",
            element("th", "Method", scope="col", rowspan=2, class_="method"),
            *subjects,
            mean if len(table.settings) > 1 else None,
        ),
        element("tr", *scenarios),
    )


def _rows(table: Table, number: int, metric: Metric) -> list[Markup]:
    found, means = readings(table, metric), mean_readings(table, metric)
    rows = []
    for row in table.rows:
        cells = [
            _cell(table, number, row, setting, found.get((row, setting)), _first(index))
            for settings in table.subjects.values()
            for index, setting in enumerate(settings)
        ]
        name = element("th", method_link(row), scope="row", class_="method")
        mean = element("td", _number(means.get(row)), class_="first mean")
        kind = "source" if row.is_source else None
        rows.append(
            element("tr", name, *cells, mean if len(table.settings) > 1 else None, class_=kind)
        )
    return rows


def _cell(
    table: Table, number: int, row: Row, setting: Setting, reading: Reading | None, kind: str | None
) -> Markup:
    if reading is None:
        return element("td", element("span", "–", class_="nothing"), class_=kind)
    link = element(
        "a",
        _number(reading),
        href=f"#{cell_anchor(table, number, row, setting)}",
        title=f"{row.label} on {setting_name(table, setting)}",
        data_cell=True,
    )
    return element("td", link, class_=kind)


def _number(reading: Reading | None) -> Markup:
    if reading is None:
        return element("span", "–", class_="nothing")
    if not reading.text:
        return element("span", f"{reading.marks} failed", class_="number bad")
    kinds = "number" + " best" * reading.best + " bad" * reading.worse
    spread = element("small", f"±{reading.spread}") if reading.spread else None
    paper = element("small", f"paper {reading.paper}", class_="paper") if reading.paper else None
    return element(
        "span",
        element("b" if reading.best else "span", reading.text),
        spread,
        paper,
        element("sup", reading.marks, title=_meaning(reading)) if reading.marks else None,
        class_=kinds,
    )


def _meaning(reading: Reading) -> str:
    return "; ".join(MEANINGS[mark] for mark in reading.marks)


def _key() -> Markup:
    entries = [
        element(
            "div",
            element("dt", mark, class_="bad" if mark == WORSE else None),
            element("dd", meaning),
        )
        for mark, meaning in MEANINGS.items()
    ]
    return element("dl", *entries, class_="key")


def _scenarios(tables: list[Table]) -> Markup | None:
    """What the settings are, in words."""
    places = dict.fromkeys(setting for table in tables for setting in table.settings)
    meanings = {place.title: scenario_meaning(place.scenario) for place in places}
    entries = [
        element("div", element("dt", title), element("dd", meaning))
        for title, meaning in meanings.items()
        if meaning
    ]
    return element("dl", *entries, class_="key") if entries else None


def _first(index: int) -> str | None:
    return "first" if index == 0 else None


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
