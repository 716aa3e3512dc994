"""Write docs/terminal.svg, the picture in the README: ``python docs/make_picture.py``.

The table that ``trimtab demo`` prints, of the results in ``benchmarks/results/shipped.json``.
"""

import io
import re
from pathlib import Path

from rich.console import Console

from trimtab.bench.submission import read_results
from trimtab.core.files import write_whole
from trimtab.report.formats.to_terminal import to_terminal
from trimtab.report.table import tables

PICTURE = Path(__file__).with_name("terminal.svg")
RESULTS = PICTURE.parents[1] / "benchmarks" / "results" / "shipped.json"
MODELS = ("fashion_resnet20_bn", "fashion_resnet20_gn")
WIDTH = 100
FETCHED = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
"""Fonts that rich would have a viewer fetch; monospace does as well, and offline."""


def picture() -> str:
    """The terminal as an SVG that fetches nothing."""
    console = Console(
        file=io.StringIO(), record=True, width=WIDTH, force_terminal=True, highlight=False
    )
    results = [result for result in read_results(RESULTS) if result.spec.model in MODELS]
    for table in tables(results):
        for part in to_terminal(table, WIDTH):
            console.print(part)
    svg = console.export_svg(title="trimtab", unique_id="trimtab")
    return FETCHED.sub("", svg).replace("Fira Code, monospace", "monospace")


if __name__ == "__main__":
    write_whole(PICTURE, picture().encode())
