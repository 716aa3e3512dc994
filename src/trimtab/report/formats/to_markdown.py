"""Tables and changes as Markdown."""

from trimtab.report.comparison import Change, Comparison
from trimtab.report.formats.markdown_grid import escaped, grid
from trimtab.report.metrics import ERROR, Metric
from trimtab.report.reading import MEANINGS, WORSE, Reading, mean_readings, readings
from trimtab.report.sections.layout import setting_name
from trimtab.report.table import Table


def to_markdown(
    tables: list[Table], metric: Metric = ERROR, comparison: Comparison | None = None
) -> str:
    """One table a protocol, a key of the marks, and what changed against another store."""
    parts = [_table(table, metric) for table in tables]
    parts.append("; ".join(f"{mark} {meaning}" for mark, meaning in MEANINGS.items()) + "\n")
    if comparison is not None:
        parts.append(_changes(comparison))
    return "\n".join(parts)


def _table(table: Table, metric: Metric) -> str:
    found, means = readings(table, metric), mean_readings(table, metric)
    several = len(table.settings) > 1
    head = ["Method", *(setting_name(table, setting) for setting in table.settings)]
    lines = [
        [
            row.label,
            *(_number(found.get((row, setting))) for setting in table.settings),
            *([_number(means.get(row))] if several else []),
        ]
        for row in table.rows
    ]
    title = f"{metric.explanation} Mean ± standard deviation over seeds. {table.protocol}"
    return f"{escaped(title)}\n\n" + grid([*head, *(["Mean"] if several else [])], lines)


def _changes(comparison: Comparison) -> str:
    head = ["Method", "Setting", "Before", "After", "Change"]
    lines = [
        [change.row.label, _where(change), _error(change.before), _error(change.after), words]
        for change in comparison.changes
        for words in [_difference(change)]
    ]
    return "Changes of the error, in points\n\n" + grid(head, lines)


def _number(reading: Reading | None) -> str:
    if reading is None:
        return "–"
    if not reading.text:
        return f"{reading.marks} failed"
    mean = f"**{reading.text}**" if reading.best else reading.text
    spread = f" ± {reading.spread}" if reading.spread else ""
    paper = f" (paper {reading.paper})" if reading.paper else ""
    return f"{mean}{spread}{paper} {escaped(reading.marks)}".rstrip()


def _where(change: Change) -> str:
    setting = change.setting
    words = f"{setting.data} · {setting.model} · {setting.title} · {change.protocol}"
    return escaped(words + " · other weights" * change.other_weights)


def _error(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _difference(change: Change) -> str:
    words = "–" if change.difference is None else f"{change.difference:+.1f}"
    failed = f" ({change.newly_failed} now failed)" if change.newly_failed else ""
    return words + failed + f" {WORSE}" * change.worse
