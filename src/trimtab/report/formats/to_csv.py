"""Tables or changes as comma-separated values, one line a cell."""

import csv
import io
import json
from typing import Any

from trimtab.report.comparison import Comparison
from trimtab.report.formats.records import change_record, records
from trimtab.report.table import Table


def to_csv(tables: list[Table], comparison: Comparison | None = None) -> str:
    """The cells or, with another store, the changes; lists are JSON, missing values empty."""
    found = (
        records(tables)
        if comparison is None
        else [change_record(change) for change in comparison.changes]
    )
    if not found:
        return ""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(found[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _plain(value) for name, value in entry.items()} for entry in found)
    return text.getvalue()


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:.4f}"
    if isinstance(value, bool):
        return int(value)
    return json.dumps(value) if isinstance(value, list | dict) else value
