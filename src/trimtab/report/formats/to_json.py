"""Tables and changes as JSON."""

import json

from trimtab.report.comparison import Comparison
from trimtab.report.formats.records import change_record, records
from trimtab.report.table import Table


def to_json(tables: list[Table], comparison: Comparison | None = None) -> str:
    """An object with ``cells`` and, with another store, ``changes``."""
    values: dict[str, object] = {"cells": records(tables)}
    if comparison is not None:
        values["changes"] = [change_record(change) for change in comparison.changes]
    return json.dumps(values, indent=1, allow_nan=False) + "\n"
