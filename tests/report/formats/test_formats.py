"""The same numbers in every format."""

import csv
import io
import json

import pytest

from report import stores
from trimtab.report.comparison import compare
from trimtab.report.formats import write
from trimtab.report.formats.to_csv import to_csv
from trimtab.report.formats.to_json import to_json
from trimtab.report.formats.to_latex import to_latex
from trimtab.report.formats.to_markdown import to_markdown
from trimtab.report.metrics import DOMAIN_ERROR, ERROR
from trimtab.report.table import tables


def test_markdown_shows_means_spreads_and_marks() -> None:
    lines = to_markdown(tables(stores.three_methods())).splitlines()
    assert "| ROID | **20.5** ± 0.7 | **25.5** ± 0.7 | **23.0** |" in lines
    assert "| TENT | 30.5 ± 0.7 | 60.5 ± 0.7 ▲ | 45.5 |" in lines


def test_markdown_leaves_a_users_text_as_it_is() -> None:
    text = to_markdown(tables([stores.done(stores.spec("a|b_*<c>"), 0.2)]))
    assert r"| a\|b\_\*&lt;c> | 20.0 |" in text


def test_markdown_shows_the_average_that_is_asked_for() -> None:
    found = tables([stores.done(stores.spec(), 0.2, domain_error=0.3)])
    assert "| ROID | 30.0 |" in to_markdown(found, DOMAIN_ERROR)


def test_latex_has_bold_red_and_as_many_columns_as_its_head() -> None:
    text = to_latex(tables(stores.three_methods()))
    assert r"\textbf{20.5}{\scriptsize$\pm$0.7}" in text
    assert r"\textcolor{red}{60.5{\scriptsize$\pm$0.7}$^{\uparrow}$}" in text
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {line.count(" & ") for line in rows[1:]} == {3}
    assert r"\begin{tabular}{lrrr}" in text


def test_latex_escapes_what_it_would_take_for_a_command() -> None:
    text = to_latex(tables([stores.done(stores.spec(r"a_b%\input{x}"), 0.2)]))
    assert r"a\_b\%\textbackslash{}input\{x\}" in text


def test_csv_has_a_line_for_each_cell_with_both_averages() -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(tables(stores.three_methods())))))
    assert len(rows) == 6
    (row,) = [row for row in rows if (row["method"], row["scenario"]) == ("tent", "mixed")]
    assert float(row["error"]) == pytest.approx(60.5)
    assert float(row["domain_error"]) == pytest.approx(60.5)
    assert row["worse_than_source"] == "1"
    assert json.loads(row["seeds"]) == [0, 1]
    assert row["weights"] == stores.WEIGHTS


def test_json_holds_the_commands() -> None:
    runs = stores.three_methods()
    cells = json.loads(to_json(tables(runs)))["cells"]
    commands = {command for cell in cells for command in cell["commands"]}
    assert commands == {run.spec.command for run in runs}


def test_a_failed_cell_has_no_number_in_any_format() -> None:
    found = tables([stores.failed(stores.spec("sar"))])
    assert "| SAR | ✕ failed |" in to_markdown(found)
    assert r"SAR & failed$^{\times}$ \\" in to_latex(found)
    (row,) = csv.DictReader(io.StringIO(to_csv(found)))
    assert row["error"] == ""
    (cell,) = json.loads(to_json(found))["cells"]
    assert cell["error"] is None


@pytest.mark.parametrize("kind", ["md", "csv", "latex", "json"])
def test_every_format_tells_changes(kind: str) -> None:
    earlier = [stores.done(stores.spec("roid"), 0.2)]
    later = [stores.done(stores.spec("roid"), 0.23)]
    text = write(kind, tables(later), ERROR, compare(earlier, later))
    assert "3.0" in text
    assert ("ROID" if kind in ("md", "latex") else "roid") in text


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="one of md, csv, latex, json, got 'pdf'"):
        write("pdf", [], ERROR, None)
