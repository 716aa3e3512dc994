"""A leaderboard as rows of plain values, for files: CSV and JSON."""

import csv
import io
import json
from typing import Any

from trimtab.report.board.standings import Board, Entry
from trimtab.report.board.streams import place_name
from trimtab.report.metrics import COST, ECE, ERROR


def rows(board: Board) -> list[dict[str, Any]]:
    """One for each entry, in order of the board."""
    return [_row(board, entry) for entry in board.entries]


def to_csv(board: Board) -> str:
    """A line for each entry, with its error in every setting."""
    found = rows(board)
    text = io.StringIO()
    if found:
        writer = csv.DictWriter(text, list(found[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)
    return text.getvalue()


def to_json(board: Board) -> str:
    """Entries and what was refused."""
    refused = [{"file": r.file, "what": r.what, "why": r.why} for r in board.refusals]
    return json.dumps({"entries": rows(board), "refused": refused}, indent=1) + "\n"


def _row(board: Board, entry: Entry) -> dict[str, Any]:
    numbers = {metric.name: entry.mean(metric) for metric in (ECE, COST)}
    errors = {place: entry.cells[place].mean(ERROR) for place in board.places}
    return {
        "rank_by_worst": board.rank_by_worst(entry),
        "rank_by_mean": board.rank_by_mean(entry),
        "method": entry.label,
        "by": entry.by,
        "file": entry.file,
        "worst_change": entry.worst_change,
        "worst_in": place_name(entry.worst),
        "mean_error": entry.mean_error,
        "worse_than_source": entry.harmed,
        **{name: None if value is None else round(value, 3) for name, value in numbers.items()},
        **{place_name(place): round(value or 0.0, 3) for place, value in errors.items()},
    }
