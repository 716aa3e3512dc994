"""What an experiment says, on the terminal."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from trimtab.reproduce.analysis import Analysis, Claim
from trimtab.reproduce.experiment import Experiment

COLOURS = {True: "green", False: "red", None: "yellow"}


def show(
    name: str, experiment: Experiment, analysis: Analysis, console: Console, *, tables: bool
) -> None:
    """Claims, and the tables where they are asked for."""
    console.print(f"\n[bold]{experiment.title}[/] ({name}; {experiment.place})", highlight=False)
    for claim in analysis.claims:
        console.print(_line(claim), soft_wrap=True)
    for table in analysis.tables if tables else ():
        drawn = Table("", *table.columns, title=table.title)
        for row, numbers in table.rows:
            drawn.add_row(row, *(str(number) for number in numbers))
        console.print(drawn)


def _line(claim: Claim) -> Text:
    numbers = f" [{claim.numbers}]" if claim.numbers else ""
    return Text.assemble((f"{claim.verdict:>18}", COLOURS[claim.holds]), f"  {claim.text}{numbers}")
