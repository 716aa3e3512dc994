"""Tables on a terminal."""

import io

from rich.console import Console

from bench.stores import tiny_spec
from trimtab.bench.runner import run
from trimtab.report.formats.to_terminal import to_terminal
from trimtab.report.table import tables


def test_a_table_names_methods_settings_and_errors() -> None:
    results = [run(tiny_spec(method=method)) for method in ("source", "tent")]
    paper = io.StringIO()
    [table] = tables(results)
    Console(file=paper, width=100).print(*to_terminal(table, 100))
    text = paper.getvalue()
    for word in ("Source", "TENT", "continual", "fashion_resnet20_gn", "fashion_mnist"):
        assert word in text
    scores = results[0].scores
    assert scores is not None
    assert f"{100 * scores.error:.1f}" in text
