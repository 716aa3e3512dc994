"""Temporal priors on simulated logits: a test bed for output rules that needs no network."""

import statistics

from trimtab.bench.spec import RunSpec
from trimtab.report.plots.matrix import change_matrix
from trimtab.reproduce.analysis import Analysis, Figure, Number, NumberTable
from trimtab.reproduce.experiment import Experiment
from trimtab.reproduce.findings import Findings
from trimtab.reproduce.setup import Setup
from trimtab.reproduce.simulation.cases import Case, cases
from trimtab.reproduce.simulation.claims import Cell, claims
from trimtab.reproduce.simulation.orders import ENDS, ORDERS
from trimtab.reproduce.study import Record, Study

FULL_COLOUR = 20.0

Group = dict[Case, dict[str, Cell]]
"""Cells by model, then by order, as far as they were measured."""


def runs(_setup: Setup) -> list[RunSpec]:
    """None: there is no network to run."""
    return []


def studies(setup: Setup) -> list[Study]:
    """One for each model and seed, through all of its orders."""
    return [
        study for group in cases(setup).values() for case in group for study in case.studies(setup)
    ]


def analyse(findings: Findings) -> Analysis:
    """Errors without and with the prior, where it acts, and what it should do."""
    groups = _groups(findings)
    every = [cell for group in groups.values() for row in group.values() for cell in row.values()]
    tables = [
        table
        for title, group in groups.items()
        if any(group.values())
        for table in (_errors(title, group), _changed(title, group))
    ]
    if ended := [cell for cell in every if cell.order == ENDS]:
        tables.append(_after_the_end(ended))
    figures = [_figure(title, group) for title, group in groups.items() if any(group.values())]
    return Analysis(tables, figures, claims(every))


def _groups(findings: Findings) -> dict[str, Group]:
    found = {study.id: record for study, record in findings.records}
    return {
        title: {
            case: _cells(case, [found[s.id] for s in case.studies(findings.setup) if s.id in found])
            for case in group
        }
        for title, group in cases(findings.setup).items()
    }


def _cells(case: Case, records: list[Record]) -> dict[str, Cell]:
    """Means over seeds."""

    def mean(order: str, kind: str) -> float:
        return statistics.fmean(record[order][kind] for record in records)

    kinds = ("raw", "corrected", "changed", "later_raw", "later_corrected")
    return {
        order: Cell(case, order, *(mean(order, kind) for kind in kinds))
        for order in (case.orders if records else ())
    }


def _errors(title: str, group: Group) -> NumberTable:
    columns = _columns(group)
    rows = [
        (
            f"{case.full_label}: {words}",
            tuple(Number(getattr(row[order], kind) if order in row else None) for order in columns),
        )
        for case, row in group.items()
        for words, kind in (("raw", "raw"), ("prior", "corrected"))
    ]
    return NumberTable(f"Error in %, {title}", columns, tuple(rows))


def _changed(title: str, group: Group) -> NumberTable:
    columns = _columns(group)
    rows = [
        (
            case.full_label,
            tuple(
                Number(row[order].changed if order in row else None, digits=0) for order in columns
            ),
        )
        for case, row in group.items()
    ]
    return NumberTable(f"Batches that the prior changes in %, {title}", columns, tuple(rows))


def _after_the_end(cells: list[Cell]) -> NumberTable:
    rows = [
        (cell.case.full_label, (Number(cell.later_raw), Number(cell.later_corrected)))
        for cell in cells
    ]
    title = "Error in % in the second half, independent again, where correlation ends halfway"
    return NumberTable(title, ("raw", "prior"), tuple(rows))


def _figure(title: str, group: Group) -> Figure:
    changes = {
        case.full_label: {order: cell.harm for order, cell in row.items()}
        for case, row in group.items()
    }
    caption = "Error with the prior minus error without it, in points: below 0 it helps."
    words = f"What the prior changes, {title}"
    content = change_matrix(words, changes, _columns(group), FULL_COLOUR)
    return Figure(words, caption, content, wide=True)


def _columns(group: Group) -> tuple[str, ...]:
    """The orders that any of the models sees."""
    return tuple(order for order in ORDERS if any(order in case.orders for case in group))


EXPERIMENT = Experiment(
    title="The temporal prior",
    paper="",
    question="Where does a prior along time help, and does it ever harm?",
    runs=runs,
    analyse=analyse,
    studies=studies,
    needs="no images and no networks",
    data="simulated logits",
)
