"""Tables for a terminal."""

from rich.table import Table as TerminalTable
from rich.text import Text

from trimtab.report.metrics import ERROR, Metric
from trimtab.report.reading import MEANINGS, WORSE, Reading, readings
from trimtab.report.table import Table


def to_terminal(table: Table, metric: Metric = ERROR) -> TerminalTable:
    """Methods by settings: the best in bold, what is worse than the source model in red."""
    found = readings(table, metric)
    data = ", ".join(dict.fromkeys(setting.data for setting in table.settings))
    shown = TerminalTable(
        title=f"{data} · {table.protocol}",
        caption=f"{metric.explanation} {WORSE} {MEANINGS[WORSE]}",
    )
    shown.add_column("method", overflow="fold")
    for setting in table.settings:
        shown.add_column(f"{setting.scenario}\n{setting.model}", justify="right", no_wrap=True)
    for row in table.rows:
        shown.add_row(
            row.label, *(_number(found.get((row, setting))) for setting in table.settings)
        )
    return shown


def _number(reading: Reading | None) -> Text:
    if reading is None:
        return Text("–")
    spread = f" ± {reading.spread}" if reading.spread else ""
    paper = f" (paper {reading.paper})" if reading.paper else ""
    style = "bold" if reading.best else "red" if reading.worse else ""
    words = f"{reading.text or 'failed'}{spread}{paper} {reading.marks}"
    return Text(words.rstrip(), style=style)
