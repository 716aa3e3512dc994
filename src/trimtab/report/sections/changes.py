"""What changed against another store."""

from trimtab.bench.titles import data_title, model_title
from trimtab.report.comparison import Change, Comparison
from trimtab.report.markup import Markup, breakable, element
from trimtab.report.sections.layout import row_filter, scrolling, section


def changes(comparison: Comparison, name: str) -> Markup:
    """The section; ``name`` is the other store's."""
    rest = (
        f" {comparison.only_before:,} runs are only there, {comparison.only_after:,} only here."
        if comparison.only_before or comparison.only_after
        else ""
    )
    introduction = (
        f"Equal runs of both stores, over the seeds that both have: error in %, and its change in "
        f"points, taken before rounding. "
        f"{len(comparison.worse):,} of {len(comparison.changes):,} cells got worse.{rest}"
    )
    several = len({change.protocol for change in comparison.changes}) > 1
    head = element(
        "tr",
        element("th", "Method", scope="col", class_="method"),
        element("th", "Setting", scope="col", class_="words"),
        *(element("th", word, scope="col") for word in ("Seeds", "There", "Here", "Change")),
    )
    content = element(
        "table",
        element("thead", head),
        element("tbody", *(_row(change, several) for change in comparison.changes)),
        class_="results roomy",
        data_sortable=True,
    )
    return section(
        "changes",
        f"Against {name}",
        introduction,
        row_filter("changes", "rows"),
        scrolling(content, f"Changes against {name}"),
    )


def _row(change: Change, several_protocols: bool) -> Markup:
    setting = change.setting
    where = f"{data_title(setting.data)} · {model_title(setting.model)} · {setting.title}"
    if several_protocols:
        where += f" · {change.protocol}"
    if change.other_weights:
        where += " · other weights"
    return element(
        "tr",
        element("th", breakable(change.row.label), scope="row", class_="method"),
        element("td", where, class_="words"),
        element("td", str(len(change.pairs))),
        element("td", _error(change.before)),
        element("td", _error(change.after)),
        element("td", _difference(change)),
    )


def _error(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _difference(change: Change) -> Markup:
    words = "–" if change.difference is None else f"{change.difference:+.1f}"
    if change.newly_failed:
        words += f" ({change.newly_failed} now failed)"
    sign = element("sup", "▲") if change.worse else None
    return element("span", words, sign, class_="number bad" if change.worse else "number")
