"""Tables for a terminal."""

from collections.abc import Iterator

from rich.table import Table as TerminalTable
from rich.text import Text

from trimtab.report.metrics import ERROR, Metric
from trimtab.report.reading import MEANINGS, Reading, readings
from trimtab.report.table import Table
from trimtab.report.terminal_table import Column, tables_that_fit, wrapped


def to_terminal(
    table: Table, width: int, metric: Metric = ERROR, *, bold: bool = True
) -> Iterator[TerminalTable]:
    """Methods by settings: the best in bold, what is worse than the source model in red.

    In parts that each fit ``width`` columns of a terminal; ``bold`` says whether it has bold type.
    """
    found = readings(table, metric)
    data = ", ".join(dict.fromkeys(setting.data for setting in table.settings))
    names = Column("method", [row.label for row in table.rows])
    columns = [
        Column(
            f"{setting.title}\n{setting.model}",
            [_number(found.get((row, setting))) for row in table.rows],
        )
        for setting in table.settings
    ]
    title = wrapped(f"{data} · {table.protocol}", width)
    caption = _caption(list(found.values()), metric, bold)
    yield from tables_that_fit(names, columns, width, title, caption)


def _caption(shown: list[Reading], metric: Metric, bold: bool) -> str:
    """What the numbers are, and what each sign means that stands in this table."""
    marks = {mark for reading in shown for mark in reading.marks}
    lines = [f"{mark} {meaning}" for mark, meaning in MEANINGS.items() if mark in marks]
    best = bold and any(reading.best for reading in shown)
    return "\n".join([metric.explanation + " Bold is the best of a column." * best, *lines])


def _number(reading: Reading | None) -> Text:
    if reading is None:
        return Text("–")
    spread = f" ± {reading.spread}" if reading.spread else ""
    paper = f" (paper {reading.paper})" if reading.paper else ""
    style = "bold" if reading.best else "red" if reading.worse else ""
    words = f"{reading.text or 'failed'}{spread}{paper} {reading.marks}"
    return Text(words.rstrip(), style=style)
