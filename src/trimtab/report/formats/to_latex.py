"""Tables or changes as LaTeX, for booktabs and xcolor."""

from trimtab.report.comparison import Change, Comparison
from trimtab.report.metrics import ERROR, Metric
from trimtab.report.reading import Reading, mean_readings, readings
from trimtab.report.sections.layout import subject_name
from trimtab.report.table import Table

SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "·": r"\textperiodcentered{}",
    "×": r"$\times$",
} | {letter: f"\\{letter}" for letter in "&%$#_{}"}

MARKS = {"▲": r"$^{\uparrow}$", "*": r"$^{*}$", "∅": r"$^{\emptyset}$", "✕": r"$^{\times}$"}
KEY = (
    r"$^{\uparrow}$ worse than the source model; $^{*}$ other seeds than most cells; "
    r"$^{\emptyset}$ collapsed, $^{\times}$ failed on at least one seed."
)


def to_latex(
    tables: list[Table], metric: Metric = ERROR, comparison: Comparison | None = None
) -> str:
    """One table a protocol or, with another store, the changes."""
    parts = ["% needs \\usepackage{booktabs} and \\usepackage{xcolor}\n"]
    if comparison is None:
        parts += [_table(table, metric) for table in tables]
    else:
        parts.append(_changes(comparison))
    return "\n".join(parts)


def _table(table: Table, metric: Metric) -> str:
    found, means = readings(table, metric), mean_readings(table, metric)
    several = len(table.settings) > 1
    lines = [
        [
            _escaped(row.label),
            *(_number(found.get((row, setting))) for setting in table.settings),
            *([_number(means.get(row))] if several else []),
        ]
        for row in table.rows
    ]
    caption = f"{metric.explanation} Mean and standard deviation over seeds. {table.protocol}."
    columns = "l" + "".join("r" * len(settings) for settings in table.subjects.values())
    head = _head(table, several)
    return _float(f"{_escaped(caption)} {KEY}", columns + "r" * several, head, lines)


def _head(table: Table, several: bool) -> str:
    subjects, rules, column = [""], [], 2
    for subject, settings in table.subjects.items():
        name = _escaped(subject_name(table, subject))
        subjects.append(rf"\multicolumn{{{len(settings)}}}{{c}}{{{name}}}")
        rules.append(rf"\cmidrule(lr){{{column}-{column + len(settings) - 1}}}")
        column += len(settings)
    scenarios = ["Method", *(_escaped(setting.title) for setting in table.settings)]
    last = ["Mean"] if several else []
    return "\n".join(
        [_line([*subjects, *([""] if several else [])]), "".join(rules), _line([*scenarios, *last])]
    )


def _changes(comparison: Comparison) -> str:
    head = _line(["Method", "Data", "Model", "Scenario", "Before", "After", "Change"])
    lines = [
        [
            *map(_escaped, _names(change)),
            _error(change.before),
            _error(change.after),
            _difference(change),
        ]
        for change in comparison.changes
    ]
    return _float("Changes of the error, in points.", "llllrrr", head, lines)


def _names(change: Change) -> tuple[str, ...]:
    setting = change.setting
    return (change.row.label, setting.data, setting.model, setting.title)


def _float(caption: str, columns: str, head: str, lines: list[list[str]]) -> str:
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{caption}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            head,
            r"\midrule",
            *(_line(line) for line in lines),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _line(words: list[str]) -> str:
    return " & ".join(words) + r" \\"


def _number(reading: Reading | None) -> str:
    if reading is None:
        return "--"
    marks = "".join(MARKS[mark] for mark in reading.marks)
    if not reading.text:
        return f"failed{marks}"
    mean = rf"\textbf{{{reading.text}}}" if reading.best else reading.text
    spread = rf"{{\scriptsize$\pm${reading.spread}}}" if reading.spread else ""
    words = mean + spread + marks
    return rf"\textcolor{{red}}{{{words}}}" if reading.worse else words


def _error(value: float | None) -> str:
    return "--" if value is None else f"{value:.1f}"


def _difference(change: Change) -> str:
    words = "--" if change.difference is None else f"${change.difference:+.1f}$"
    words += f" ({change.newly_failed} now failed)" if change.newly_failed else ""
    return rf"\textcolor{{red}}{{{words}}}{MARKS['▲']}" if change.worse else words


def _escaped(text: str) -> str:
    return "".join(SPECIAL.get(letter, letter) for letter in " ".join(text.split()))
