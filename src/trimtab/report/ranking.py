"""Worst-case ranking of methods: by the setting in which they do worst."""

import statistics
from dataclasses import dataclass

from trimtab.report.settings import Row, Setting
from trimtab.report.table import Table, change_against_source


@dataclass(frozen=True)
class Standing:
    """How a method's error changes against the source model's, in points; above 0 is worse.

    Args:
        row: The method.
        changes: By setting.
    """

    row: Row
    changes: dict[Setting, float]

    @property
    def worst(self) -> Setting:
        """The setting with the largest change."""
        return max(self.changes, key=lambda setting: self.changes[setting])

    @property
    def mean(self) -> float:
        """The mean change."""
        return statistics.fmean(self.changes.values())

    @property
    def harmed(self) -> int:
        """Settings in which the method, to one decimal, is worse than the source."""
        return sum(round(change, 1) > 0 for change in self.changes.values())


def ranking(table: Table) -> list[Standing]:
    """Methods but the source: most settings first, then the smallest worst change."""
    found = [_standing(table, row) for row in table.rows if not row.is_source]
    return sorted(
        (standing for standing in found if standing.changes),
        key=lambda standing: (-len(standing.changes), standing.changes[standing.worst]),
    )


def _standing(table: Table, row: Row) -> Standing:
    changes = {
        setting: change
        for setting in table.settings
        if (cell := table.cell(row, setting)) is not None
        and (change := change_against_source(cell)) is not None
    }
    return Standing(row, changes)
