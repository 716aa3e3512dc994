"""The tables as text, one format a file."""

from trimtab.report.comparison import Comparison
from trimtab.report.formats.to_csv import to_csv
from trimtab.report.formats.to_json import to_json
from trimtab.report.formats.to_latex import to_latex
from trimtab.report.formats.to_markdown import to_markdown
from trimtab.report.metrics import Metric
from trimtab.report.table import Table


def write(kind: str, tables: list[Table], average: Metric, comparison: Comparison | None) -> str:
    """The tables in a format: md, csv, latex or json."""
    if kind == "csv":
        return to_csv(tables, comparison)
    if kind == "json":
        return to_json(tables, comparison)
    if kind == "latex":
        return to_latex(tables, average, comparison)
    if kind == "md":
        return to_markdown(tables, average, comparison)
    raise ValueError(f"a format is one of md, csv, latex, json, got {kind!r}")
