"""What an experiment says, on the terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from trimtab.report.terminal_table import Column, tables_that_fit, wrapped
from trimtab.reproduce.analysis import Analysis, Claim, NumberTable
from trimtab.reproduce.experiment import Experiment

COLOURS = {True: "green", False: "red", None: "yellow"}


def show(
    name: str, experiment: Experiment, analysis: Analysis, console: Console, *, tables: bool
) -> None:
    """Claims, and the tables where they are asked for."""
    heading = Text(f"\n{experiment.title}", style="bold")
    console.print(heading.append(f" ({name}; {experiment.place})", style="not bold"))
    if console.is_terminal:
        console.print(_claims(analysis.claims))
    else:
        for claim in analysis.claims:
            console.print(f"{claim.verdict:>18}  {_words(claim)}", soft_wrap=True, markup=False)
    for table in analysis.tables if tables else ():
        _show_table(table, console)


def _claims(claims: Sequence[Claim]) -> Table:
    """Verdicts on the left, what they are about on the right, broken between words."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column()
    for claim in claims:
        grid.add_row(Text(claim.verdict, style=COLOURS[claim.holds]), Text(_words(claim)))
    return grid


def _words(claim: Claim) -> str:
    return f"{claim.text} [{claim.numbers}]" if claim.numbers else claim.text


def _show_table(table: NumberTable, console: Console) -> None:
    title = wrapped(table.title, console.width)
    if not table.rows:
        console.print(f"{title}: nothing was run yet", markup=False)
        return
    names = Column("", [row for row, _ in table.rows])
    columns = [
        Column(head, [str(numbers[place]) for _, numbers in table.rows])
        for place, head in enumerate(table.columns)
    ]
    for part in tables_that_fit(names, columns, console.width, title):
        console.print(part)
